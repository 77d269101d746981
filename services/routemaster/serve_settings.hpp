/// @file
/// The settings of the bus as a service.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "listen_settings.hpp"
#include "log.hpp"
#include "routemaster/health.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/time.hpp"

namespace routemaster::service {

/// Everything that can be set about `routemaster serve`. Defaults are the original's, where it has
/// the setting.
struct ServeSettings {
    ListenSettings listening{.port = 17'890};
    std::size_t body_max = 1U << 20U;
    unsigned connections_max = 10'000;

    std::string store;  ///< Empty: `routemaster.db` in `data_dir`.
    std::string data_dir = ".";

    std::string root_key;
    std::vector<std::string> clients;
    bool allow_http_callbacks = false;

    std::size_t event_data_max = event_data_max_default;
    std::size_t topics_max = 1'000;
    double connect_timeout = 2;  ///< Seconds, like the next.
    double delivery_timeout = 20;
    bool verify_tls = true;
    std::uint32_t deliveries_max = 1'024;
    HealthOptions health{};

    std::uint64_t scaling_threshold = 100;
    std::int64_t scaling_deadline = 1'000;  ///< Milliseconds.

    double stop_grace = 8;  ///< Seconds. Short of the ten that supervisors commonly allow.
    LogSettings log{};

    /// The URL of the store.
    [[nodiscard]] std::string store_url() const;
};

/// Declares the settings as flags, variables and names in a file. `settings` must outlive the
/// parsing.
void declare_settings(CLI::App& app, ServeSettings& settings);

/// Whole milliseconds out of seconds.
[[nodiscard]] Duration from_seconds(double seconds);

}  // namespace routemaster::service
