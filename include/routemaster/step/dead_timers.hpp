/// @file
/// Steps about DEAD timers.

#pragma once

#include <optional>
#include <string>

#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Makes a DEAD timer, or all DEAD ones, PENDING again, due at that time and with all retries.
/// Replies how many, at most `taken_timers_max`. Repeating it does so with those that are left.
struct RepostDeadTimers {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "repost_dead_timers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::optional<std::string> id{};  ///< Absent: all.
    TimePoint due_at;
};

/// Forgets a DEAD timer, or all DEAD ones. Replies how many, at most `taken_timers_max`. Repeating
/// it forgets those that are left.
struct DropDeadTimers {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "drop_dead_timers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::optional<std::string> id{};  ///< Absent: all.
};

/// The steps about DEAD timers.
using DeadTimerSteps = StepList<RepostDeadTimers, DropDeadTimers>;

}  // namespace routemaster
