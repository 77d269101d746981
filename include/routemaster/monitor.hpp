/// @file
/// `Monitor`: measures the bus periodically.

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
    std::vector<std::string> queues{delivery_queue};  ///< The queues whose jobs are counted.
    MeasurementTags tags{};  ///< Added in front of the tags of each measurement.
    /// Reported as `store.max_mem`, `.low_mark`, `.high_mark`.
    std::optional<CapacityOptions> capacity{};
    /// Prefixes for the names of the store's gauges. Each gauge is reported once per prefix. Ruby
    /// Routemaster's prefix is `redis`.
    std::vector<std::string> store_names{"store"};
    /// Receives the measurements. The polling thread calls `report`; it must not block for long.
    std::function<void(std::vector<Measurement>)> report{};
    Log log{};
};

/// Reports the numbers of the store once per interval, under the names that Ruby Routemaster uses:
///
/// - gauges `subscriber.queue.batches`, `subscriber.queue.events`, `subscriber.dead.batches` (tag
///   `subscriber`), `jobs.count` (tags `queue`, and `status`: `instant` for READY, `scheduled`),
///   `store.bytes_used`;
/// - every counter of the store.
///
/// The tags `subscriber` and `queue` show only the `public_part` of a subscriber's token. Tokens
/// with equal public parts are reported together, with the sum of their numbers.
///
/// If a step fails, its numbers are missing from the report, and the error is logged. Numbers too
/// great for a measurement are reported as the greatest possible value. Any number of monitors may
/// watch one store; each reports all numbers.
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

    /// Lets the current step end, and reports nothing more.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
