/// @file
/// `Monitor`: reports metrics of the bus periodically.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/capacity.hpp"
#include "routemaster/log.hpp"
#include "routemaster/measurement.hpp"
#include "routemaster/names.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `Monitor`.
struct MonitorOptions {
    Duration interval{10'000};                        ///< Time between two reports.
    std::vector<std::string> queues{delivery_queue};  ///< Queues whose jobs are counted.
    MeasurementTags tags{};  ///< Prepended to the tags of each measurement.
    /// Space limits, reported as the gauges `store.max_mem`, `store.low_mark`, `store.high_mark`.
    std::optional<CapacityOptions> capacity{};
    /// Prefixes of the names of the store's gauges. Each gauge is reported once per prefix. Ruby
    /// Routemaster's prefix is `redis`.
    std::vector<std::string> store_names{"store"};
    /// Callback that receives the measurements, on the polling thread. It must not block for long.
    std::function<void(std::vector<Measurement>)> report{};
    Log log{};
};

/// Polled object that reports the store's metrics once per interval, with Ruby Routemaster's names:
///
/// - gauges `subscriber.queue.batches`, `subscriber.queue.events`, `subscriber.dead.batches` (tag
///   `subscriber`), `jobs.count` (tags `queue`, and `status`: `instant` for READY, `scheduled`),
///   `store.bytes_used`;
/// - every counter of the store.
///
/// The tags `subscriber` and `queue` contain only the `public_part` of a subscriber's token. Tokens
/// with equal public parts are reported as one, with the sum of their values.
///
/// If a step fails, the report omits its metrics, and the error is logged. A value too great for a
/// measurement is reported as the greatest possible value. Any number of monitors may observe one
/// store, and each reports all metrics.
///
/// Thread safety: see `Active`.
class Monitor final : public Active {
public:
    /// The store must outlive the monitor.
    Monitor(Store& store, MonitorOptions options);
    ~Monitor() override;
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Waits for the current step, and reports nothing more.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
