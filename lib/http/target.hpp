/// @file
/// Where a URL leads: what libcurl connects to.

#pragma once

#include <string>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// The host of a URL and its port.
struct Target {
    std::string scheme;  ///< In lower case.
    std::string host;    ///< In lower case; IPv6 addresses in brackets; names as DNS takes them.
    std::string port;    ///< The usual one of the scheme when the URL names none.
    bool names_port;     ///< Whether the URL does.
    bool is_name;        ///< Whether the host has to be resolved.
};

/// Reads `url` as libcurl does. `invalid` with a text that says why it is none.
[[nodiscard]] Result<Target> target_of(const std::string& url);

}  // namespace routemaster::detail
