/// @file
/// The exchange of timers between the loop of a listener and its threads.
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
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct EndedTimer {
    std::string id{};
    std::uint32_t retries = 0;
    TimePoint confirm_by = never;
    std::int64_t firing = 0;
    bool handled = false;
    std::shared_ptr<const FollowUps> follow_ups{};  ///< Null without follow-ups.
    bool given_up = false;                          ///< Failed for good: to become DEAD.
    std::string reason{};                           ///< Why it is given up.
};

/// Timers waiting for a slot, and timers that ended. A begun timer takes a slot until its end, in a
/// thread or in a responder.
///
/// There is one lock. A thread takes it once per timer, the loop once per poll. Threads are woken
/// one at a time, and each wakes the next when timers remain. The loop is woken to take more
/// timers, and when a timer ended, unless the loop polls anyway.
///
/// Ending a timer allocates nothing: memory that runs out on the thread of a handler would end the
/// program. `offer` allocates the list node.
///
/// Thread safety: all members from any thread. The object may outlive the listener.
class TimerBoard {
public:
    /// News for the loop.
    struct Report {
        std::list<EndedTimer> ended{};
        std::size_t waiting = 0;
        std::size_t running = 0;
    };

    /// How long an ended timer may stay here while timers wait and end quickly.
    static constexpr Duration look_interval{2};

    explicit TimerBoard(std::size_t slots) : slots_{slots} {}

    // --- For the loop ---------------------------------------------------------------------------

    /// Calls `wake`, from any thread, when the loop should poll.
    void wake_with(std::function<void()> wake);

    void offer(std::vector<FiredTimer> fresh);

    /// Takes the news. `looks`: the loop will poll within `look_interval` while timers wait.
    [[nodiscard]] Report take(bool looks);

    [[nodiscard]] std::vector<FiredTimer> withdraw();

    /// Ends the threads: `next` returns nothing from now on. Later ends are dropped.
    void close();

    [[nodiscard]] std::size_t running() const;
    [[nodiscard]] std::size_t waiting() const;

    // --- For threads ----------------------------------------------------------------------------

    /// Reports the end of a timer, if any, and waits for the next timer, which takes a slot.
    /// Nothing after `close`.
    [[nodiscard]] std::optional<FiredTimer> next(std::optional<EndedTimer> ended);

    /// The next timer, which takes a slot; nothing when no timer may begin now.
    [[nodiscard]] std::optional<FiredTimer> next_now();

    /// Reports the end of a timer and frees its slot. Call once.
    void end(EndedTimer ended);

private:
    [[nodiscard]] bool may_begin() const noexcept { return !waiting_.empty() && running_ < slots_; }
    [[nodiscard]] FiredTimer begin();
    void note_end(EndedTimer ended);
    void wake_loop();

    const OwnerProcess process_{"timer listener"};
    const std::size_t slots_;
    // Guards the members below. Locked during calls of `wake_`: no call begins after `wake_with`.
    mutable std::mutex mutex_;
    IdleThreads idle_;
    std::deque<FiredTimer> waiting_;
    std::size_t refill_ = 0;  // When this few timers wait, the loop is woken to take more.
    std::size_t running_ = 0;
    std::list<EndedTimer> ended_;
    std::list<EndedTimer> places_;  // One node for each timer that waits or runs.
    std::function<void()> wake_;
    bool looks_ = false;
    bool woken_ = false;  // The loop was woken and has not polled since.
    bool closed_ = false;
};

}  // namespace routemaster::detail
