/// @file
/// The types of handlers of timers, and `TimerResponder`, by which an asynchronous handler reports.

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

/// Handles a timer. If the handler returns, the timer is confirmed. If the handler throws, the text
/// of the exception is logged, and the timer fires again at its `confirm_by`, or becomes DEAD after
/// its last retry. If the handler throws `Reject`, the timer becomes DEAD at once. Handlers of
/// several timers run in parallel. A handler without follow-ups may take a `const Timer&`.
using TimerHandler = std::function<void(TimerContext&)>;

/// Reports the result of handling a timer. Only the first report counts; later reports do nothing.
/// The responder may outlive the listener; a report after the end of the listener does nothing.
///
/// All copies of a responder share one report. If the last copy is destroyed without a report, the
/// timer counts as failed.
///
/// Thread safety: all members may be called from any thread. For a single object, the rules of
/// `shared_ptr` apply.
class TimerResponder {
public:
    explicit TimerResponder(std::shared_ptr<detail::TimerResponse> response)
        : response_{std::move(response)} {}

    /// The timer. Valid during the life of the responder.
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

/// Begins to handle a timer. The responder reports the result later, from any thread. If the
/// handler throws, the timer has failed, as for a `TimerHandler`, unless the responder has already
/// reported.
using AsyncTimerHandler = std::function<void(TimerResponder)>;

}  // namespace routemaster
