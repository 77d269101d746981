#include "support/redis_sentinel.hpp"

#include <cstdlib>
#include <stdexcept>

#include "support/await.hpp"

namespace routemaster::test {

RedisSentinel::RedisSentinel() {
    const std::vector<std::string> quick{"--repl-diskless-sync-delay", "0"};
    servers_.push_back(std::make_unique<RedisServer>(quick));
    const auto port = std::to_string(servers_[0]->port());
    for (int i = 0; i < 2; ++i) {
        auto arguments = quick;
        arguments.insert(arguments.end(), {"--replicaof", "127.0.0.1 " + port});
        servers_.push_back(std::make_unique<RedisServer>(arguments));
    }
    const std::string of_main = std::string{name} + " ";
    const auto configuration = "sentinel monitor " + of_main + "127.0.0.1 " + port + " 2\n" +
                               "sentinel down-after-milliseconds " + of_main + "500\n" +
                               "sentinel failover-timeout " + of_main + "2000\n";
    for (int i = 0; i < 3; ++i) {
        sentinels_.push_back(
            std::make_unique<RedisServer>(std::vector<std::string>{"--sentinel"}, configuration));
    }
    for (const auto& sentinel : sentinels_) {
        const bool complete = await([&] {
            const auto info = sentinel->command({"INFO", "sentinel"}).text;
            return redis_info(info, "master0").find("status=ok") != std::string::npos &&
                   redis_info(info, "master0").find("slaves=2,sentinels=3") != std::string::npos;
        });
        if (!complete) throw std::runtime_error{"the sentinels do not find each other"};
    }
}

std::vector<RedisAddress> RedisSentinel::addresses() const {
    std::vector<RedisAddress> all;
    for (const auto& sentinel : sentinels_) all.push_back(sentinel->address());
    return all;
}

std::uint16_t RedisSentinel::master_port(std::size_t sentinel) const {
    const auto at = sentinels_.at(sentinel)->command({"SENTINEL", "get-master-addr-by-name", name});
    return static_cast<std::uint16_t>(std::strtoul(at.list.at(1).text.c_str(), nullptr, 10));
}

void RedisSentinel::fail_over(std::size_t sentinel) {
    sentinels_.at(sentinel)->command({"SENTINEL", "FAILOVER", name});
}

}  // namespace routemaster::test
