#include "components/worker_component.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "components/bytes.hpp"
#include "components/seconds.hpp"
#include "components/whole_number.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/measurement.hpp"

namespace routemaster::service {
namespace {

/// Web processes of Ruby Routemaster send no wake-ups, so workers must poll. Ruby workers poll
/// every 100 ms, so a job waits between 0 and 100 ms for a Ruby worker. Workers of routemaster poll
/// more often, so that no job waits longer for them.
constexpr Duration mixed_fleet_poll_interval{20};

/// Stands for an empty list of statuses, because an environment variable cannot be an empty list.
constexpr std::string_view no_statuses = "none";

/// Parses a list of statuses. The word `none` and an empty list, which CLI11 passes as one empty
/// text, stand for no statuses. Throws `CLI::ValidationError` for values outside 300 to 599.
std::vector<int> statuses_of(const std::vector<std::string>& texts) {
    const bool none = texts.size() == 1 && (texts.front().empty() || texts.front() == no_statuses);
    if (none) return {};
    std::vector<int> statuses;
    for (const auto& text : texts) {
        constexpr int least = 300;
        constexpr int most = 599;
        int status = 0;
        if (!CLI::detail::lexical_cast(text, status) || status < least || status > most) {
            throw CLI::ValidationError(
                "--permanent-statuses",
                "'" + text + "' is neither a number from 300 to 599 nor, alone, the word none");
        }
        statuses.push_back(status);
    }
    return statuses;
}

std::string joined(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers) {
        text.append(text.empty() ? "" : ",").append(std::to_string(number));
    }
    return text;
}

void declare_permanent_statuses(CLI::App& app, std::vector<int>& statuses) {
    app.add_option_function<std::vector<std::string>>(
           "--permanent-statuses",
           [&statuses](const std::vector<std::string>& texts) { statuses = statuses_of(texts); },
           "Statuses, separated by commas, that make a batch DEAD at once if its subscriber has "
           "set attempts_max or age_max; none: no status does")
        ->delimiter(',')
        ->type_name("STATUS,...|none")
        ->envname("ROUTEMASTER_PERMANENT_STATUSES")
        ->default_str(joined(statuses))
        ->group("Delivery");
}

void declare_delivery(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Delivery";
    app.add_option("--connect-timeout", settings.connect_timeout, "Seconds")
        ->check(seconds())
        ->envname("ROUTEMASTER_CONNECT_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--delivery-timeout", settings.delivery_timeout,
                   "Seconds that a complete delivery may take")
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
        ->check(whole_number(1, 1'000'000))
        ->envname("ROUTEMASTER_DELIVERIES_MAX")
        ->capture_default_str()
        ->group(group);
    declare_permanent_statuses(app, settings.permanent_statuses);
}

/// Returns a validator for an option of `HttpTransport`.
CLI::Validator fit_for(std::string HttpTransportOptions::*field) {
    return {[field](const std::string& text) -> std::string {
                HttpTransportOptions options;
                options.*field = text;
                const auto checked = check(options);
                return checked ? "" : checked.error().context();
            },
            ""};
}

void declare_requests(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Delivery";
    app.add_option("--user-agent", settings.user_agent, "The User-Agent header of deliveries")
        ->check(fit_for(&HttpTransportOptions::user_agent))
        ->type_name("TEXT")
        ->envname("ROUTEMASTER_USER_AGENT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--proxy", settings.proxy,
                   "Proxy for all deliveries: http://, https:// or socks5h://, with a port [none; "
                   "environment variables are ignored]")
        ->check(fit_for(&HttpTransportOptions::proxy))
        ->type_name("URL")
        ->envname("ROUTEMASTER_PROXY")
        ->group(group);
    app.add_flag("--http2", settings.http2,
                 "Allow HTTP/2 over TLS; only if you trust all subscribers: over HTTP/2, one can "
                 "delay the deliveries to all")
        ->envname("ROUTEMASTER_HTTP2")
        ->group(group);
}

void declare_health(CLI::App& app, HealthOptions& health) {
    const auto* const group = "Delivery";
    app.add_option("--heal-rate", health.heal_rate, "Health that a subscriber gains by a success")
        ->check(whole_number(1, 100))
        ->envname("ROUTEMASTER_HP_HEAL_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option("--damage-rate", health.damage_rate,
                   "Health that a subscriber gains by a failure")
        ->check(whole_number(-100, -1))
        ->envname("ROUTEMASTER_HP_DAMAGE_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option_function<std::int64_t>(
           "--max-backoff", [&health](std::int64_t wait) { health.backoff_max = Duration{wait}; },
           "Longest wait between attempts, in milliseconds")
        ->check(whole_number(1, 600'000))
        ->envname("MAX_BACKOFF_MS")
        ->default_str(std::to_string(health.backoff_max.count()))
        ->group(group);
}

void declare_capacity(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Data";
    app.add_option(
           "--drop-oldest-above", settings.drop_oldest_above,
           "Bytes that the store may take before the bus drops the oldest batches [it drops "
           "none]")
        ->transform(bytes())
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 50U))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_DROP_OLDEST_ABOVE")
        ->group(group);
    app.add_option("--drop-oldest-free", settings.drop_oldest_free,
                   "Bytes below --drop-oldest-above at which dropping ends [a tenth of "
                   "--drop-oldest-above]")
        ->transform(bytes())
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 50U))
        ->type_name("BYTES")
        ->envname("ROUTEMASTER_DROP_OLDEST_FREE")
        ->group(group);
}

/// Declares Ruby Routemaster's names for these settings, only as environment variables. The flags
/// have clearer names.
void declare_ruby_capacity(CLI::App& app, WorkerSettings& settings) {
    app.add_option("--redis-max-mem", settings.ruby_bytes_max)
        ->transform(bytes())
        ->envname("ROUTEMASTER_REDIS_MAX_MEM")
        ->configurable(false)
        ->group("");
    app.add_option("--redis-min-free", settings.ruby_bytes_free_min)
        ->transform(bytes())
        ->envname("ROUTEMASTER_REDIS_MIN_FREE")
        ->configurable(false)
        ->group("");
}

void declare_metrics(CLI::App& app, WorkerSettings& settings) {
    const auto* const group = "Metrics";
    app.add_option_function<std::string>(
           "--metrics",
           [&settings](const std::string& where) {
               settings.print_metrics = where != "none";
               settings.metrics_wanted_elsewhere = where == "datadog";
           },
           "print writes them to the log, none turns them off; datadog, a setting of Ruby "
           "Routemaster, is not supported: it writes them to the log, with a warning")
        ->check(CLI::IsMember{{"print", "none", "datadog"}})
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
            .proxy = settings.proxy,
            .http2 = settings.http2,
            .user_agent = settings.user_agent,
            // The dispatcher limits the deliveries in flight, and orders the waiting ones.
            .in_flight_max = std::numeric_limits<std::size_t>::max(),
            .connections_kept_max = settings.deliveries_max,
            .permanent_statuses = settings.permanent_statuses,
            .log = log};
}

DeliveryWorkerOptions delivery_options(const ProcessSettings& process,
                                       const WorkerSettings& settings, const Log& log) {
    DeliveryWorkerOptions options{
        .transports = {std::make_shared<HttpTransport>(transport_options(process, settings, log))},
        .in_flight_max = settings.deliveries_max,
        .health = settings.health,
        .log = log};
    if (process.store.shared_with_ruby()) {
        options.worker_silence = ruby_worker_silence;
        options.poll_interval = mixed_fleet_poll_interval;
    }
    return options;
}

/// Returns the marks (bytes in the store) at which the dropping of old events begins and ends;
/// nothing if no limit is set.
std::optional<CapacityOptions> capacity(const WorkerSettings& settings) {
    if (const auto above = settings.drop_oldest_above) {
        const auto free = settings.drop_oldest_free.value_or(*above / 10);
        return CapacityOptions{.bytes_max = *above + free, .bytes_free_min = free};
    }
    if (!settings.ruby_bytes_max) return std::nullopt;
    return CapacityOptions{.bytes_max = *settings.ruby_bytes_max,
                           .bytes_free_min = settings.ruby_bytes_free_min};
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
        .capacity = capacity(settings),
        .report =
            [log](const std::vector<Measurement>& measured) {
                for (const auto& each : measured) log(LogLevel::info, to_string(each));
            },
        .log = log};
    if (process.store.is_remote()) options.store_names.emplace_back("redis");
    // Ruby workers use the queue `aux` for housekeeping.
    if (process.store.shared_with_ruby()) options.queues.emplace_back("aux");
    return options;
}

}  // namespace

void declare_worker(CLI::App& app, WorkerSettings& settings) {
    declare_delivery(app, settings);
    declare_requests(app, settings);
    declare_health(app, settings.health);
    declare_capacity(app, settings);
    declare_ruby_capacity(app, settings);
    declare_metrics(app, settings);
}

void check(const WorkerSettings& settings) {
    if (settings.drop_oldest_free && !settings.drop_oldest_above) {
        throw CLI::RequiresError("--drop-oldest-free", "--drop-oldest-above");
    }
    const auto marks = capacity(settings);
    if (!marks || marks->low_mark() > 0) return;
    if (settings.drop_oldest_above) {
        throw CLI::ValidationError("--drop-oldest-free", "must be less than --drop-oldest-above");
    }
    throw CLI::ValidationError("ROUTEMASTER_REDIS_MIN_FREE",
                               "must be less than half of ROUTEMASTER_REDIS_MAX_MEM");
}

WorkerComponent::WorkerComponent(Store& store, const ProcessSettings& process,
                                 const WorkerSettings& settings, const Log& log)
    : deliveries_{store, delivery_options(process, settings, log)},
      recurring_{store, {.log = log}},
      actions_{store, {.log = log}},
      ticks_{recurring_},
      acting_{actions_} {
    if (const auto limits = capacity(settings)) {
        autodrop_.emplace(store, AutodropOptions{.capacity = *limits, .log = log});
        drops_.emplace(*autodrop_);
    }
    if (settings.metrics_wanted_elsewhere && log) {
        log(LogLevel::warning,
            "metrics cannot be sent to Datadog: they are written to the log, where an agent can "
            "read them");
    }
    // Metrics are logged at `info`. At a higher log level they would be discarded.
    if (settings.print_metrics && process.log.level <= LogLevel::info) {
        monitor_.emplace(store, monitor_options(process, settings, log));
        measurements_.emplace(*monitor_);
    }
}

std::optional<std::string> WorkerComponent::trouble() const { return deliveries_.trouble(); }

void WorkerComponent::stop(TimePoint deadline) {
    ticks_.stop(Duration{0});
    acting_.stop(Duration{0});
    if (measurements_) measurements_->stop(Duration{0});
    if (drops_) drops_->stop(Duration{0});
    deliveries_.stop(std::max(deadline - system_clock().now(), Duration{0}));
}

}  // namespace routemaster::service
