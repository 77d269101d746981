/// @file
/// Steps for DEAD timers.

#pragma once

#include <optional>
#include <string>

#include "routemaster/result.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Makes a DEAD timer, or all DEAD timers, PENDING again, due at `due_at` and with the full number
/// of retries. Replies with the number of timers, at most `taken_timers_max`. A repetition reposts
/// the remaining timers.
struct RepostDeadTimers {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "repost_dead_timers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::optional<std::string> id{};  ///< Absent: all DEAD timers.
    TimePoint due_at;
};

/// Removes a DEAD timer, or all DEAD timers. Replies with the number of timers, at most
/// `taken_timers_max`. A repetition removes the remaining timers.
struct DropDeadTimers {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "drop_dead_timers",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::optional<std::string> id{};  ///< Absent: all DEAD timers.
};

/// The list of the steps for DEAD timers.
using DeadTimerSteps = StepList<RepostDeadTimers, DropDeadTimers>;

}  // namespace routemaster
