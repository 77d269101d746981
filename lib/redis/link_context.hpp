/// @file
/// What all parts of a link share.

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

/// The settings of a link, and the state its parts share. Outlives them.
struct LinkContext {
    RedisOptions options;
    DialOptions dial;
    std::unique_ptr<ServerClock> clock = std::make_unique<ServerClock>();

    /// How long a connection may be idle before the server has to prove that it is alive: sooner
    /// with a short timeout, but never at once.
    [[nodiscard]] Duration idle_max(Duration at_most) const {
        return std::clamp(3 * options.timeout, Duration{2'000}, at_most);
    }

    void log(LogLevel level, const std::string& text) const {
        if (options.log) options.log(level, "redis " + text);
    }
};

/// Throws `Failure`: `invalid` when the options are inconsistent or the authorities cannot be read.
[[nodiscard]] LinkContext make_link_context(RedisOptions options);

/// `host:port`, as in logs.
[[nodiscard]] inline std::string to_text(const RedisAddress& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    const auto host = is_ipv6 ? "[" + address.host + "]" : address.host;
    return host + ":" + std::to_string(address.port);
}

}  // namespace routemaster::redis
