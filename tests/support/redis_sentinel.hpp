/// @file
/// `RedisSentinel`: a real master with replicas, watched by sentinels.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "routemaster/store/redis.hpp"
#include "support/redis_server.hpp"

namespace routemaster::test {

/// One master called `main`, two replicas, and three sentinels. The sentinels replace a master
/// after half a second without a reply.
class RedisSentinel {
public:
    /// Starts the servers and waits until all know each other.
    RedisSentinel();

    /// The servers. At the start, the first one is the master.
    [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
    [[nodiscard]] RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }
    [[nodiscard]] std::vector<RedisAddress> addresses() const;

    /// The port of the master, as a sentinel reports it.
    [[nodiscard]] std::uint16_t master_port(std::size_t sentinel = 0) const;

    /// Makes a sentinel replace a healthy master.
    void fail_over(std::size_t sentinel = 0);

    static constexpr const char* name = "main";

private:
    std::vector<std::unique_ptr<RedisServer>> servers_;
    std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

}  // namespace routemaster::test
