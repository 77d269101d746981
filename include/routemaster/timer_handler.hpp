/// @file
/// The types of timer handlers, and `TimerResponder`, by which an asynchronous handler reports.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "routemaster/timer_context.hpp"

namespace routemaster {

namespace detail {
class TimerResponse;
}  // namespace detail

/// Function that handles a timer. If it returns, the timer is confirmed. If it throws, the text of
/// the exception is logged, and the timer fires again at its `confirm_by`, or becomes DEAD after
/// its last retry. If it throws `Reject`, the timer becomes DEAD at once. Handlers of several
/// timers run concurrently. The parameter may be a `const Timer&` if the handler adds no jobs,
/// events or timers (`TimerContext`).
using TimerHandler = std::function<void(TimerContext&)>;

/// Handle by which an asynchronous handler reports its result. Only the first report has an effect,
/// unless it comes after the end of the listener. A responder may outlive its listener.
///
/// All copies share one report. If the last copy is destroyed without a report, the firing has
/// failed.
///
/// Thread safety: all members may be called from any thread. Assigning to an object that another
/// thread uses needs a lock, as with a `std::shared_ptr`.
class TimerResponder {
public:
    explicit TimerResponder(std::shared_ptr<detail::TimerResponse> response)
        : response_{std::move(response)} {}

    /// The context of the timer, valid as long as the responder.
    [[nodiscard]] TimerContext& timer() const noexcept;

    /// Reports success: the timer is confirmed.
    void confirm() const;
    /// Reports a failure: the timer fires again at its `confirm_by`, or becomes DEAD. The text is
    /// logged.
    void fail(const std::string& error) const;
    /// Reports a permanent failure: the timer becomes DEAD, if it had retries. The text is logged.
    void reject(const std::string& error) const;

private:
    std::shared_ptr<detail::TimerResponse> response_;
};

/// Function that starts handling a timer. The responder reports the result later, from any thread.
/// If the function throws, the firing has failed, as for a `TimerHandler`, unless it was already
/// reported.
using AsyncTimerHandler = std::function<void(TimerResponder)>;

}  // namespace routemaster
