#include "parts/worker_part.hpp"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "parts/seconds.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/measurement.hpp"

namespace routemaster::service {
namespace {

/// A worker of the original says that it is alive once a delivery or once in five seconds, and a
/// delivery takes up to 22. Its own processes wait for so long.
constexpr Duration silence_of_the_original{30'000};

void declare_delivery(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Delivery";
    app.add_option("--connect-timeout", settings.connect_timeout, "Seconds")
        ->check(seconds())
        ->envname("ROUTEMASTER_CONNECT_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--delivery-timeout", settings.delivery_timeout, "Seconds, from start to end")
        ->check(seconds())
        ->envname("ROUTEMASTER_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--ssl-verify", settings.verify_tls, "Check the certificates of subscribers")
        ->type_name("YES|NO")
        ->envname("ROUTEMASTER_SSL_VERIFY")
        ->capture_default_str()
        ->group(group);
    app.add_option("--deliveries-max", settings.deliveries_max, "Deliveries under way at once")
        ->check(CLI::Range(1, 1'000'000))
        ->envname("ROUTEMASTER_DELIVERIES_MAX")
        ->capture_default_str()
        ->group(group);
    app.add_option(
           "--permanent-statuses", settings.permanent_statuses,
           "Statuses, with commas, after which a batch is DEAD at once if its subscriber has "
           "set attempts_max or age_max")
        ->delimiter(',')
        ->check(CLI::Range(300, 599))
        ->envname("ROUTEMASTER_PERMANENT_STATUSES")
        ->capture_default_str()
        ->group(group);
}

void declare_health(CLI::App& app, HealthOptions& health) {
    const auto* const group = "Delivery";
    app.add_option("--heal-rate", health.heal_rate, "Health that a subscriber gains by a success")
        ->check(CLI::Range(1, 100))
        ->envname("ROUTEMASTER_HP_HEAL_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option("--damage-rate", health.damage_rate, "Health that it gains by a failure")
        ->check(CLI::Range(-100, -1))
        ->envname("ROUTEMASTER_HP_DAMAGE_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option_function<std::int64_t>(
           "--max-backoff", [&health](std::int64_t wait) { health.backoff_max = Duration{wait}; },
           "Longest wait between attempts, in milliseconds")
        ->check(CLI::Range(1, 600'000))
        ->envname("MAX_BACKOFF_MS")
        ->default_str(std::to_string(health.backoff_max.count()))
        ->group(group);
}

void declare_room(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Data";
    app.add_option("--memory-max", settings.memory_max,
                   "Bytes that the store may take before the oldest batches are dropped [nothing "
                   "is dropped]")
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_REDIS_MAX_MEM")
        ->group(group);
    app.add_option("--memory-free-min", settings.memory_free_min,
                   "Bytes of them that stay free; less than half")
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_REDIS_MIN_FREE")
        ->capture_default_str()
        ->group(group);
}

void declare_metrics(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Metrics";
    app.add_option_function<std::string>(
           "--metrics",
           [&settings](const std::string& where) { settings.print_metrics = where == "print"; },
           "print writes them to the log, none does not measure")
        ->check(CLI::IsMember{{"print", "none"}})
        ->type_name("print|none")
        ->envname("METRIC_COLLECTION_SERVICE")
        ->default_str("print")
        ->group(group);
    app.add_option("--monitor-interval", settings.monitor_interval, "Seconds between measurements")
        ->check(seconds())
        ->envname("ROUTEMASTER_MONITOR_INTERVAL")
        ->capture_default_str()
        ->group(group);
    app.add_option("--app-name", settings.app_name, "The tag app of every measurement")
        ->type_name("NAME")
        ->envname("ROUTEMASTER_APP_NAME")
        ->capture_default_str()
        ->group(group);
    app.add_option("--environment", settings.environment, "The tag env of every measurement")
        ->type_name("NAME")
        ->envname("RACK_ENV")
        ->capture_default_str()
        ->group(group);
}

HttpTransportOptions transport_options(const ProcessSettings& process,
                                       const WorkerSettings& settings, const Log& log) {
    return {.connect_timeout = from_seconds(settings.connect_timeout),
            .total_timeout = from_seconds(settings.delivery_timeout),
            .verify_tls = settings.verify_tls,
            .allow_http = process.allow_http_callbacks,
            .allow_loopback = process.allow_http_callbacks,
            .connections_max = settings.deliveries_max,
            .permanent_statuses = settings.permanent_statuses,
            .log = log};
}

DispatcherOptions dispatcher_options(const ProcessSettings& process, const WorkerSettings& settings,
                                     Transport& transport, const Log& log) {
    DispatcherOptions options{.transports = {&transport},
                              .in_flight_max = settings.deliveries_max,
                              .health = settings.health,
                              .log = log};
    if (process.store.shared_with_original()) options.worker_silence = silence_of_the_original;
    return options;
}

std::optional<RoomOptions> room(const WorkerSettings& settings) {
    if (!settings.memory_max) return std::nullopt;
    if (settings.memory_free_min > (*settings.memory_max - 1) / 2 || *settings.memory_max == 0) {
        throw CLI::ValidationError("--memory-free-min", "must be less than half of --memory-max");
    }
    return RoomOptions{.bytes_max = *settings.memory_max,
                       .bytes_free_min = settings.memory_free_min};
}

std::string lower_case(std::string text) {
    for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

MonitorOptions monitor_options(const ProcessSettings& process, const WorkerSettings& settings,
                               const Log& log) {
    MonitorOptions options{
        .interval = from_seconds(settings.monitor_interval),
        .tags = {{"app", lower_case(settings.app_name)}, {"env", lower_case(settings.environment)}},
        .room = room(settings),
        .report =
            [log](const std::vector<Measurement>& measured) {
                for (const auto& each : measured) log(LogLevel::info, to_string(each));
            },
        .log = log};
    // Where workers of the original do their housekeeping.
    if (process.store.shared_with_original()) options.queues.emplace_back("aux");
    return options;
}

}  // namespace

void declare_worker(CLI::App& app, WorkerSettings& settings) {
    declare_delivery(app, settings);
    declare_health(app, settings.health);
    declare_room(app, settings);
    declare_metrics(app, settings);
}

WorkerPart::WorkerPart(Store& store, const ProcessSettings& process, const WorkerSettings& settings,
                       const Log& log)
    : transport_{transport_options(process, settings, log)},
      dispatcher_{store, dispatcher_options(process, settings, transport_, log)},
      deliveries_{dispatcher_} {
    if (const auto limits = room(settings)) {
        autodrop_.emplace(store, AutodropOptions{.room = *limits, .log = log});
        drops_.emplace(*autodrop_);
    }
    if (settings.print_metrics) {
        monitor_.emplace(store, monitor_options(process, settings, log));
        measurements_.emplace(*monitor_);
    }
}

void WorkerPart::stop(TimePoint deadline) {
    if (measurements_) measurements_->stop(Duration{0});
    if (drops_) drops_->stop(Duration{0});
    deliveries_.stop(std::max(deadline - system_clock().now(), Duration{0}));
}

}  // namespace routemaster::service
