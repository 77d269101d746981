/// @file
/// `TimerExplanation`: why a timer has not fired.

#pragma once

#include <string>

#include "routemaster/store/step/timers.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Diagnosis of a timer: the reason why the timer has not fired.
struct TimerExplanation {
    TimerStatus timer{};
    TimerCounts counts{};  ///< The counts of its namespace.
    TimePoint now{};       ///< Time of the diagnosis; `to_text` computes ages from it.

    friend bool operator==(const TimerExplanation&, const TimerExplanation&) = default;
};

/// Formats the explanation as a clause: "it has been due for 3 min, and no listener of its
/// namespace asks for timers".
[[nodiscard]] std::string to_text(const TimerExplanation& explanation);

}  // namespace routemaster
