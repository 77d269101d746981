/// @file
/// The forms of a handler of timers, and what it may report with.

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

/// Handles a timer. To return means to confirm it. To throw means not to: the text is logged, and
/// the timer fires again at its `confirm_by`, or dies; a `Reject` makes it DEAD at once, whatever
/// retries are left. Handlers of several timers run at once. One from which nothing follows takes a
/// `const Timer&`.
using TimerHandler = std::function<void(TimerContext&)>;

/// Reports what became of a timer. The first report counts, and those after it do nothing. So does
/// one that comes after the end of the listener, which the responder may outlive.
///
/// Copies are the same responder. When the last of them ends without a report, the timer is not
/// confirmed, as if it had failed.
///
/// Thread safety: all members may be called from any thread; of one object, as of a `shared_ptr`.
class TimerResponder {
public:
    explicit TimerResponder(std::shared_ptr<detail::TimerResponse> response)
        : response_{std::move(response)} {}

    /// The timer. It lives as long as the responder.
    [[nodiscard]] TimerContext& timer() const noexcept;

    /// The timer is dealt with.
    void confirm() const;
    /// It is not, and fires again at its `confirm_by`, or dies. The text is logged.
    void fail(const std::string& error) const;
    /// It never will be, and is DEAD, if it had retries. The text is logged.
    void reject(const std::string& error) const;

private:
    std::shared_ptr<detail::TimerResponse> response_;
};

/// Begins to handle a timer; the responder confirms it later, from any thread. To throw means that
/// it failed, as for a `TimerHandler`, unless the responder has reported already.
using AsyncTimerHandler = std::function<void(TimerResponder)>;

}  // namespace routemaster
