/// @file
/// `SimulationContext`: the clock, random numbers, events and trace of a world.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "routemaster/random.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/testing/simulation.hpp"
#include "routemaster/time.hpp"

namespace routemaster::simulation {

/// Event loop of a world, with its clock and its trace. A world is one simulated deployment. All
/// its random decisions are derived from a seed. Not thread safe.
class SimulationContext {
public:
    SimulationContext(std::uint64_t seed, const testing::WorldOptions& options);

    SimulationContext(const SimulationContext&) = delete;
    SimulationContext& operator=(const SimulationContext&) = delete;

    /// The time of the system clock, which faults set forward and back.
    [[nodiscard]] TimePoint now() const { return clock.now(); }

    /// The time of a clock that faults do not change.
    [[nodiscard]] TimePoint moment() const noexcept { return moment_; }

    /// Calls `what` after a span; a negative span means now. Calls with equal times are made in
    /// random order.
    void after(Duration span, std::function<void()> what);

    /// How much time any clock has shown to pass: the time since the beginning plus all changes of
    /// the clock forward. Never decreases.
    [[nodiscard]] Duration elapsed() const noexcept { return moment_ - begun_at_ + set_forth_; }

    void set_clock(Duration by);

    [[nodiscard]] bool clock_was_set() const noexcept { return clock_was_set_; }

    bool step();

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    [[nodiscard]] bool happens(double probability) {
        return probability > 0 && random.unit() < probability;
    }
    /// A random span from 0 to `longest`, both included.
    [[nodiscard]] Duration up_to(Duration longest) {
        return Duration{static_cast<std::int64_t>(
            random.below(static_cast<std::uint64_t>(longest.count()) + 1))};
    }

    void note(std::string text);

    /// Fails the simulation by throwing `SimulationFailure`, because a guarantee was violated.
    [[noreturn]] void fail(const std::string& broken) const;

    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

    /// Records a fault. Until its `span` has passed, checkers tolerate delays.
    void disturb(Duration span = Duration{0}) {
        disturbed_until = std::max(disturbed_until, moment() + span);
    }

    testing::ManualClock clock;
    Random random;
    testing::FaultRates fault_rates;  ///< All zero at the beginning and the end.
    TimePoint disturbed_until;        ///< When the effects of the last fault end.

private:
    struct Action {
        std::uint64_t step;
        TimePoint at;
        std::string text;
    };

    std::uint64_t seed_;
    std::size_t trace_max_;
    TimePoint begun_at_;
    TimePoint moment_;
    bool clock_was_set_ = false;
    Duration set_forth_{0};  // The sum of all changes of the clock forward.
    std::map<std::pair<TimePoint, std::pair<std::uint64_t, std::uint64_t>>, std::function<void()>>
        events_;  // Sorted by time, random number and sequence number.
    std::uint64_t numbers_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t hash_;
    std::deque<Action> trace_;
};

}  // namespace routemaster::simulation
