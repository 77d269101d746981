/// @file
/// `WorkerComponent`: delivers batches, and maintains the store.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/process.hpp"
#include "routemaster/action_runner.hpp"
#include "routemaster/autodrop.hpp"
#include "routemaster/capacity.hpp"
#include "routemaster/delivery_worker.hpp"
#include "routemaster/health.hpp"
#include "routemaster/log.hpp"
#include "routemaster/monitor.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/transport/http.hpp"

namespace routemaster::service {

/// Settings of `WorkerComponent`. The settings that Ruby Routemaster has as well have the defaults
/// of Ruby Routemaster.
struct WorkerSettings {
    double connect_timeout = 2;  ///< Seconds, like the next setting.
    double delivery_timeout = 20;
    bool verify_tls = true;
    std::uint32_t deliveries_max = 1'024;
    std::string user_agent = HttpTransportOptions{}.user_agent;
    std::string proxy{};  ///< Empty: no proxy.
    bool http2 = false;
    std::vector<int> permanent_statuses = HttpTransportOptions{}.permanent_statuses;
    HealthOptions health{};

    /// Absent (the default): no limit, so the bus drops no events, unlike Ruby Routemaster.
    std::optional<std::uint64_t> drop_oldest_above{};
    std::optional<std::uint64_t> drop_oldest_free{};  ///< Default: a tenth of `drop_oldest_above`.

    /// Ruby Routemaster's form of the limit: a maximum and a minimum of free space. Ignored if
    /// `drop_oldest_above` is set.
    std::optional<std::uint64_t> ruby_bytes_max{};
    std::uint64_t ruby_bytes_free_min = CapacityOptions{}.bytes_free_min;

    bool print_metrics = true;
    /// Whether metrics for Datadog were requested, which is not supported.
    bool metrics_wanted_elsewhere = false;
    double monitor_interval = 10;  ///< Seconds.
    std::string app_name = "routemaster";
    std::string environment = "production";
};

/// Declares the settings as flags, environment variables and names in a settings file. `settings`
/// must outlive the parsing.
void declare_worker(CLI::App& app, WorkerSettings& settings);

/// Throws `CLI::Error` if settings contradict each other.
void check(const WorkerSettings& settings);

/// A `DeliveryWorker` for HTTP, a `RecurringScheduler`, an `ActionRunner`, a `Monitor` that writes
/// to the log, and, if a limit is set, an `Autodrop`.
class WorkerComponent final : public Component {
public:
    /// The store must outlive the component, and `check` must have accepted the settings. Throws
    /// `Failure`.
    WorkerComponent(Store& store, const ProcessSettings& process, const WorkerSettings& settings,
                    const Log& log);

    [[nodiscard]] const char* type() const override { return "worker"; }
    void stop(TimePoint deadline) override;

    /// Returns why deliveries are impossible now; empty if they are possible. May be called from
    /// any thread.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    DeliveryWorker deliveries_;
    std::optional<Autodrop> autodrop_;
    std::optional<Monitor> monitor_;
    RecurringScheduler recurring_;
    ActionRunner actions_;
    std::optional<Runner> drops_;
    std::optional<Runner> measurements_;
    Runner ticks_;
    Runner acting_;
};

}  // namespace routemaster::service
