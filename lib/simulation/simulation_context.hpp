/// @file
/// What everybody in a world shares: its time, its chance, and the record of what happened.

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

/// The time of a world, its events to come, and its trace. Not thread safe.
class SimulationContext {
public:
    SimulationContext(std::uint64_t seed, const testing::WorldOptions& options);

    SimulationContext(const SimulationContext&) = delete;
    SimulationContext& operator=(const SimulationContext&) = delete;

    // --- Time -----------------------------------------------------------------------------------

    /// The time of the machine's clock, which may be set.
    [[nodiscard]] TimePoint now() const { return clock.now(); }

    /// The time that it would have if nobody ever set it.
    [[nodiscard]] TimePoint moment() const noexcept { return moment_; }

    /// Lets something happen after a span, or now if that is negative. What happens at the same
    /// moment does so in an order that chance decides.
    void after(Duration span, std::function<void()> what);

    /// How much time any clock has shown to pass: that which did, and what the clock was set forth.
    /// It never decreases.
    [[nodiscard]] Duration elapsed() const noexcept { return moment_ - begun_at_ + set_forth_; }

    /// Sets the clock forth or back.
    void set_clock(Duration by);

    /// Whether that was ever done.
    [[nodiscard]] bool clock_was_set() const noexcept { return clock_was_set_; }

    /// Lets the next thing happen. False when there is none.
    bool step();

    [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

    // --- Chance ---------------------------------------------------------------------------------

    [[nodiscard]] bool happens(double probability) {
        return probability > 0 && random.unit() < probability;
    }
    /// A span from 0 to `longest`, both included.
    [[nodiscard]] Duration up_to(Duration longest) {
        return Duration{static_cast<std::int64_t>(
            random.below(static_cast<std::uint64_t>(longest.count()) + 1))};
    }

    // --- The record -----------------------------------------------------------------------------

    /// Notes what happens.
    void note(std::string text);

    /// Ends the world: a promise was broken.
    [[noreturn]] void fail(const std::string& broken) const;

    [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }

    /// Something goes wrong for a while that others may have to wait for.
    void disturb(Duration span = Duration{0}) {
        disturbed_until = std::max(disturbed_until, moment() + span);
    }

    testing::ManualClock clock;
    Random random;
    testing::FaultRates fault_rates;  ///< None in the beginning and in the end.
    TimePoint disturbed_until;        ///< Until when something went wrong that slows down recovery.

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
    Duration set_forth_{0};  // By which the clock was, in all.
    std::map<std::pair<TimePoint, std::pair<std::uint64_t, std::uint64_t>>, std::function<void()>>
        events_;  // By moment, chance and number.
    std::uint64_t numbers_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t hash_;
    std::deque<Action> trace_;
};

}  // namespace routemaster::simulation
