/// @file
/// `TimerResponse`: the shared state of all copies of a `TimerResponder`.

#pragma once

#include <atomic>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "core/timers/work/timer_board.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/log.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/timer_handler.hpp"

namespace routemaster::detail {

void log_failure(const Log& log, const Timer& timer, std::string_view error, bool for_good = false);

/// Builds the report of an ended firing. Drops the jobs, events and timers that the handler of a
/// failed firing added.
[[nodiscard]] EndedTimer ended_timer(TimerContext& timer, bool handled);
[[nodiscard]] EndedTimer given_up_timer(TimerContext& timer, std::string_view reason);

/// One-time report of the end of a firing. If memory for the report is exhausted, the firing counts
/// as failed, and the timer fires again. Thread safe.
class TimerResponse {
public:
    TimerResponse(std::shared_ptr<TimerBoard> board, Log log, Timer timer, const Clock& clock,
                  const PublicationOptions& publications)
        : board_{std::move(board)},
          log_{std::move(log)},
          timer_{std::move(timer), clock, &publications} {}
    TimerResponse(const TimerResponse&) = delete;
    TimerResponse& operator=(const TimerResponse&) = delete;
    ~TimerResponse() { fail("the handler ended without a report"); }

    [[nodiscard]] TimerContext& timer() noexcept { return timer_; }

    void confirm() {
        if (!reported_.exchange(true)) report([&] { return ended_timer(timer_, true); });
    }

    void fail(std::string_view error, bool for_good = false) {
        if (reported_.exchange(true)) return;
        report([&] {
            log_failure(log_, timer_, error, for_good);
            return for_good ? given_up_timer(timer_, error) : ended_timer(timer_, false);
        });
    }

    /// Called when the listener ends. Drops the jobs, events and timers added so far, because no
    /// later step will submit them.
    void abandon() { static_cast<void>(timer_.take_follow_ups()); }

private:
    template <class End>
    void report(End end) {
        EndedTimer ended;
        try {
            ended = end();
        } catch (const std::bad_alloc&) {
            ended = {};
        }
        board_->end(std::move(ended));
    }

    std::shared_ptr<TimerBoard> board_;
    Log log_;
    TimerContext timer_;
    std::atomic<bool> reported_{false};
};

}  // namespace routemaster::detail
