/// @file
/// `LinkContext`: the data that all objects of a link share.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "dial.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store/redis.hpp"
#include "routemaster/time.hpp"
#include "server_clock.hpp"

namespace routemaster::redis {

/// The settings and the shared state of a link. It must outlive the objects of the link.
struct LinkContext {
    RedisOptions options;
    DialOptions dial;
    std::unique_ptr<ServerClock> clock = std::make_unique<ServerClock>();

    /// How long a connection may receive nothing before it is tested with a PING: three timeouts,
    /// at least 2 s and at most `at_most`.
    [[nodiscard]] Duration idle_max(Duration at_most) const {
        return std::clamp(3 * options.timeout, Duration{2'000}, at_most);
    }

    void log(LogLevel level, const std::string& text) const {
        if (options.log) options.log(level, "redis " + text);
    }
};

/// Throws `Failure` with `invalid` when the options are inconsistent or the file of certificate
/// authorities cannot be read.
[[nodiscard]] LinkContext make_link_context(RedisOptions options);

[[nodiscard]] inline std::string to_text(const RedisAddress& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    const auto host = is_ipv6 ? "[" + address.host + "]" : address.host;
    return host + ":" + std::to_string(address.port);
}

}  // namespace routemaster::redis
