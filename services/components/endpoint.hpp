/// @file
/// Parser for the address of a listener in settings.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::service {

/// A numeric IP address and an optional port.
struct Endpoint {
    std::string address = "127.0.0.1";
    std::optional<std::uint16_t> port{};
};

/// Parses `ADDRESS`, `ADDRESS:PORT` or, for IPv6, `[ADDRESS]:PORT`.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

/// Returns the URL of a server that listens on `address` and `port`.
[[nodiscard]] std::string url_of(const std::string& address, std::uint16_t port);

}  // namespace routemaster::service
