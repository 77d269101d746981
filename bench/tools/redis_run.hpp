/// @file
/// The shared settings of programs that drive a store on Redis.

#pragma once

#include <cstdint>
#include <string>

#include "options.hpp"
#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace bench {

/// The settings of each run.
struct RedisSettings {
    std::string url;
    std::uint64_t count = 100'000;  ///< The number of jobs or events.
    std::uint64_t warm_up = 10'000;
    std::uint32_t in_flight = 1'024;
};

/// Declares the options; `settings` must outlive the parsing.
inline void declare(Options& options, RedisSettings& settings) {
    options.add("--url", settings.url, "Of the Redis server").required();
    options.add("--count", settings.count, "How many are measured");
    options.add("--warm-up", settings.warm_up, "How many go before");
    options.add("--in-flight", settings.in_flight, "At once");
}

/// The options of the store. Its warnings and errors go to standard error.
inline routemaster::RedisOptions redis_options(const RedisSettings& settings) {
    auto options = routemaster::parse_redis_url(settings.url).value();
    options.log = &warn;
    return options;
}

}  // namespace bench
