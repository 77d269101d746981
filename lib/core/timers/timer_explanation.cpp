#include "routemaster/timer_explanation.hpp"

#include "core/codec/log_text.hpp"
#include "routemaster/worker_profile.hpp"

namespace routemaster {
namespace {

/// Explains why no listener takes the timer. Busy listeners do not acquire timers and are not
/// counted.
std::string text_of_listeners(const TimerCounts& counts) {
    if (counts.listeners > 0) return {};
    const std::string text = "no listener of its namespace asks for timers";
    if (counts.fired == 0) return text;
    return text + ": no listener runs, or all are busy with the " + std::to_string(counts.fired) +
           " FIRED timers";
}

std::string text_of_pending(const TimerExplanation& explanation) {
    const auto& [timer, counts, now] = explanation;
    const auto lack = text_of_listeners(counts);
    if (timer.at > now) {
        return "it is due in " + to_words(timer.at - now) + (lack.empty() ? "" : "; " + lack);
    }
    return "it has been due for " + to_words(now - timer.at) +
           (lack.empty() ? ", and " + std::to_string(counts.listeners) +
                               (counts.listeners == 1 ? " listener takes" : " listeners take") +
                               " earlier timers first"
                         : ", and " + lack);
}

}  // namespace

std::string to_text(const TimerExplanation& explanation) {
    const auto& timer = explanation.timer;
    switch (timer.state) {
        case TimerState::pending: return text_of_pending(explanation);
        case TimerState::fired:
            return "a listener has it, and has " + to_words(timer.at - explanation.now) +
                   " left to confirm it";
        case TimerState::dead:
            constexpr std::size_t shown_max = 200;
            return timer.reason.empty()
                       ? "it was given up: no listener confirmed it in time"
                       : "it was given up: " + detail::log_text(timer.reason, shown_max);
    }
    return {};
}

}  // namespace routemaster
