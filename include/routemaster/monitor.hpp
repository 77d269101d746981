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
    Duration interval{10'000};                        ///< From one round to the next.
    std::vector<std::string> queues{delivery_queue};  ///< Whose jobs are counted.
    MeasurementTags tags{};                           ///< Precede the tags of each measurement.
    std::optional<CapacityOptions>
        capacity{};  ///< Reported as `store.max_mem`, `.low_mark`, `.high_mark`.
    /// First words of the store's gauges; each gauge is reported under every one. Ruby Routemaster
    /// says `redis`.
    std::vector<std::string> store_names{"store"};
    /// Receives the measurements. Called from the polling thread; must not block for long.
    std::function<void(std::vector<Measurement>)> report{};
    Log log{};
};

/// Reports every interval what the store returns, under the names of Ruby Routemaster:
///
/// - gauges `subscriber.queue.batches`, `subscriber.queue.events`, `subscriber.dead.batches` (tag
///   `subscriber`), `jobs.count` (tags `queue`, and `status`: `instant` for READY, `scheduled`),
///   `store.bytes_used`;
/// - every counter of the store.
///
/// Of a subscriber's token it reports the `public_part`, in the tags `subscriber` and `queue`.
/// Tokens that share it are reported as one, with the sum of their numbers.
///
/// What the store fails to return is left out, and logged. Numbers too great for a measurement are
/// reported as the greatest. Any number of monitors may watch a store; each reports all of it.
///
/// Thread safety: as `Active` says.
class Monitor final : public Active {
public:
    /// The store must outlive it.
    Monitor(Store& store, MonitorOptions options);
    ~Monitor() override;
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;

    /// Lets a step under way end, and reports nothing more.
    void close(TimePoint deadline) override;

    [[nodiscard]] bool closed() const override;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
