/// @file
/// Where the loop of a listener leaves timers for its threads, and finds what became of them.
///
///     loop ──offer──► waiting ──next──► under way ──end──► ended ──take──► loop
///                        └──────withdraw──────► loop

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
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

/// What became of a firing.
struct EndedTimer {
    std::string id{};
    std::uint32_t retries = 0;
    TimePoint confirm_by = never;
    std::int64_t firing = 0;
    bool handled = false;
    std::shared_ptr<const FollowUps> follow_ups{};  ///< Null: none.
    bool given_up = false;                          ///< It failed for good, and is to be DEAD.
    std::string reason{};                           ///< Why it is given up.
};

/// Timers that wait for a slot, and those that ended. A slot is a timer that was begun and has not
/// ended, whichever thread or responder has it.
///
/// One lock for all, taken once for each timer by the threads and once for each turn by the loop.
/// Threads are woken one at a time, and wake the next when there is more. The loop is woken when it
/// should take more timers, and when one ended while it was not looking by itself anyway.
///
/// Thread safety: all members may be called from any thread. It may outlive the listener.
class TimerBoard {
public:
    /// What the loop finds.
    struct Report {
        std::vector<EndedTimer> ended{};
        std::size_t waiting = 0;
        std::size_t running = 0;
    };

    /// How long what ended may lie here while others wait and end quickly.
    static constexpr Duration look_interval{2};

    explicit TimerBoard(std::size_t slots) : slots_{slots} {}

    // --- For the loop ---------------------------------------------------------------------------

    /// Calls `wake`, from any thread, when the loop should look.
    void wake_with(std::function<void()> wake);

    /// Adds timers.
    void offer(std::vector<FiredTimer> fresh);

    /// Takes what has come. `looks`: the loop comes again within `look_interval` while some wait.
    [[nodiscard]] Report take(bool looks);

    /// Takes away the timers that wait.
    [[nodiscard]] std::vector<FiredTimer> withdraw();

    /// Lets the threads go: `next` returns nothing from now on, and what ends is not kept.
    void close();

    [[nodiscard]] std::size_t running() const;
    [[nodiscard]] std::size_t waiting() const;

    // --- For those who handle timers ------------------------------------------------------------

    /// Reports the timer that ended, if any, and waits for the next, which has a slot from now on.
    /// Nothing at the end.
    [[nodiscard]] std::optional<FiredTimer> next(std::optional<EndedTimer> ended);

    /// The next timer; nothing when there is none now.
    [[nodiscard]] std::optional<FiredTimer> next_now();

    /// Reports a timer, whose slot is free from now on. Once.
    void end(EndedTimer ended);

private:
    [[nodiscard]] bool may_begin() const noexcept { return !waiting_.empty() && running_ < slots_; }
    [[nodiscard]] FiredTimer begin();
    void note_end(EndedTimer ended);
    void wake_loop();

    const OwnerProcess process_{"timer listener"};
    const std::size_t slots_;
    mutable std::mutex mutex_;  // Guards the rest; held while waking, so no wake comes late.
    IdleThreads idle_;
    std::deque<FiredTimer> waiting_;
    std::size_t refill_ = 0;  // When so few wait, the loop is woken to take more.
    std::size_t running_ = 0;
    std::vector<EndedTimer> ended_;
    std::function<void()> wake_;
    bool looks_ = false;
    bool woken_ = false;  // The loop was woken, and has not looked since.
    bool closed_ = false;
};

}  // namespace routemaster::detail
