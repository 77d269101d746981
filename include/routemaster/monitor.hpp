/// @file
/// `Monitor`: measures the bus every so often, for whoever watches it.

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
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of a `Monitor`.
struct MonitorOptions {
    Duration interval{10'000};                        ///< From one look to the next.
    std::vector<std::string> queues{delivery_queue};  ///< Whose jobs are counted.
    MeasurementTags tags{};                           ///< Put before those of each measurement.
    std::optional<CapacityOptions>
        capacity{};  ///< Told as `store.max_mem`, `.low_mark`, `.high_mark`.
    /// What the gauges of the store begin with; each is told under every one. Ruby Routemaster says
    /// `redis`.
    std::vector<std::string> store_names{"store"};
    /// Is given what was measured. Called from the polling thread; must not block for long.
    std::function<void(std::vector<Measurement>)> report{};
    Log log{};
};

/// Reports every interval what the store tells of itself, under the names of Ruby Routemaster:
///
/// - gauges `subscriber.queue.batches`, `subscriber.queue.events`, `subscriber.dead.batches` (tag
///   `subscriber`), `jobs.count` (tags `queue`, and `status`: `instant` for READY, `scheduled`),
///   `store.bytes_used`;
/// - every counter of the store.
///
/// Of the token of a subscriber it tells the `public_part`, in the tags `subscriber` and `queue`.
/// Tokens that share it are told as one, with the sum of their numbers.
///
/// What the store cannot tell is left out, and logged. Numbers too great for a measurement are told
/// as the greatest. Any number of monitors may watch a store; each reports all of it.
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
