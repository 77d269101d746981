/// @file
/// What the programs that drive a store on Redis share: their settings, and opening the store.

#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/store/redis.hpp"
#include "run.hpp"

namespace bench {

/// The settings of every run.
struct RedisSettings {
    std::string url;
    std::uint64_t count = 100'000;  ///< Of jobs or events.
    std::uint64_t warm_up = 10'000;
    std::uint32_t in_flight = 1'024;
};

/// Declares the options; `settings` must outlive the parsing.
inline void declare(CLI::App& app, RedisSettings& settings) {
    app.add_option("--url", settings.url, "Of the Redis server")->required();
    app.add_option("--count", settings.count, "How many are measured")->capture_default_str();
    app.add_option("--warm-up", settings.warm_up, "How many go before")->capture_default_str();
    app.add_option("--in-flight", settings.in_flight, "At once")->capture_default_str();
}

/// Opens the store of the settings. Its warnings and errors go to standard error.
inline routemaster::RedisOptions redis_options(const RedisSettings& settings) {
    auto options = routemaster::parse_redis_url(settings.url).value();
    options.log = &warn;
    return options;
}

}  // namespace bench
