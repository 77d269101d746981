/// @file
/// Why a timer has not fired.

#pragma once

#include <string>

#include "routemaster/step/timers.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// What a timer waits for.
struct TimerExplanation {
    TimerStatus timer{};
    TimerCounts counts{};  ///< The counts of its namespace.
    TimePoint now{};       ///< The time of the explanation, for the ages in its text.

    friend bool operator==(const TimerExplanation&, const TimerExplanation&) = default;
};

/// The explanation as a clause: "it has been due for 3 min, and no listener of its namespace asks
/// for timers".
[[nodiscard]] std::string to_text(const TimerExplanation& explanation);

}  // namespace routemaster
