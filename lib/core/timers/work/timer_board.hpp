/// @file
/// `TimerBoard`: passes timers between the loop of a listener and its threads.
///
///     loop ──offer──► waiting ──next──► under way ──end──► ended ──take──► loop
///                        └──────withdraw──────► loop

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/system/owner_process.hpp"
#include "core/work/idle_threads.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct EndedTimer {
    std::string id{};
    std::uint32_t retries = 0;
    TimePoint confirm_by = never;
    std::int64_t firing = 0;
    bool handled = false;
    /// Jobs, events and timers to be added; null if there are none.
    std::shared_ptr<const FollowUps> follow_ups{};
    bool given_up = false;  ///< Failed for good: must become DEAD.
    std::string reason{};
};

/// Queue of timers waiting for a slot, and of ended timers. A begun timer occupies a slot until its
/// end, whether in a thread or in a responder.
///
/// There is one lock. A thread locks it once per timer, the loop once per poll. Threads are woken
/// one at a time, and each wakes the next when timers remain. The loop is woken to take more
/// timers, and when a timer ended, unless the loop polls anyway.
///
/// Ending a timer allocates nothing, because an exception for lack of memory on the thread of a
/// handler would end the program. `offer` allocates the list node.
///
/// Thread safety: all members from any thread. The object may outlive the listener.
class TimerBoard {
public:
    struct Report {
        std::list<EndedTimer> ended{};
        std::size_t waiting = 0;
        std::size_t running = 0;
    };

    /// How long an ended timer may wait here for the loop while other timers wait for a slot and
    /// end quickly.
    static constexpr Duration look_interval{2};

    explicit TimerBoard(std::size_t slots) : slots_{slots} {}

    // --- For the loop ---------------------------------------------------------------------------

    /// Sets a function that is called, from any thread, when the loop should poll.
    void wake_with(std::function<void()> wake);

    void offer(std::vector<FiredTimer> fresh);

    /// Returns the report for the loop. `looks`: while timers wait, the loop will poll within
    /// `look_interval`, and need not be woken.
    [[nodiscard]] Report take(bool looks);

    [[nodiscard]] std::vector<FiredTimer> withdraw();

    /// Ends the threads: from now on, `next` returns nothing. Timers that end later are ignored.
    void close();

    [[nodiscard]] std::size_t running() const;
    [[nodiscard]] std::size_t waiting() const;

    // --- For threads ----------------------------------------------------------------------------

    /// Reports the end of a timer, if `ended` is present. Then waits for a timer and a free slot,
    /// and returns the timer, which occupies the slot. Nothing after `close`.
    [[nodiscard]] std::optional<FiredTimer> next(std::optional<EndedTimer> ended);

    /// The next timer, which then occupies a slot. Nothing when no timer may begin now.
    [[nodiscard]] std::optional<FiredTimer> next_now();

    /// Reports the end of a timer and frees its slot. To be called once per timer.
    void end(EndedTimer ended);

private:
    [[nodiscard]] bool may_begin() const noexcept { return !waiting_.empty() && running_ < slots_; }
    [[nodiscard]] FiredTimer begin();
    void note_end(EndedTimer ended);
    void wake_loop();

    const OwnerProcess process_{"timer listener"};
    const std::size_t slots_;
    // Guards the members below. It is locked during calls of `wake_`: no call of the old function
    // begins after `wake_with` returned.
    mutable std::mutex mutex_;
    IdleThreads idle_;
    std::deque<FiredTimer> waiting_;
    std::size_t refill_ = 0;  // When no more timers than this wait, the loop is woken to take more.
    std::size_t running_ = 0;
    std::list<EndedTimer> ended_;
    std::list<EndedTimer> places_;  // Unused list nodes, one for each waiting or running timer.
    std::function<void()> wake_;
    bool looks_ = false;
    bool woken_ = false;  // The loop was woken and has not polled since.
    bool closed_ = false;
};

}  // namespace routemaster::detail
