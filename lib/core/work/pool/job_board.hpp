/// @file
/// Where the loop of a pool leaves jobs for its threads, and finds what became of them.
///
///     loop ──offer──► waiting ──next──► under way ──end──► ended ──take──► loop
///                        └──────withdraw──────► loop

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "core/system/owner_process.hpp"
#include "core/work/idle_threads.hpp"
#include "core/work/pool/attempt.hpp"
#include "core/work/pool/job_verdict.hpp"

namespace routemaster::detail {

/// Jobs that wait for a slot, and those that ended. A slot is a job that was begun and has not
/// ended, whichever thread or responder has it.
///
/// One lock for all, taken once for each job by the threads and once for each turn by the loop.
/// Nobody is woken who has something to do: of the threads one at a time, who wakes the next when
/// there is more; the loop when it should fetch more jobs, or when a thread has ended its job and
/// finds no other. Otherwise the loop looks by itself every `look_interval`.
///
/// Thread safety: all members may be called from any thread. It may outlive the pool.
class JobBoard {
public:
    /// A job that ended.
    struct Ended {
        AttemptPtr attempt;
        JobVerdict verdict;
    };

    /// What the loop finds.
    struct Report {
        std::vector<Ended> ended{};
        std::vector<AttemptPtr> begun{};  ///< Of those that may time out.
        std::size_t waiting = 0;
        std::size_t running = 0;
    };

    /// How long what ended may lie here while others wait.
    static constexpr Duration look_interval{2};

    /// `strict`: jobs of a queue come before all of the queues behind it. Else first come, first
    /// served.
    JobBoard(std::size_t queues, std::size_t slots, bool strict)
        : slots_{slots}, strict_{strict}, waiting_(strict ? queues : 1) {}

    // --- For the loop ---------------------------------------------------------------------------

    /// Calls `wake`, from any thread, when the loop should look.
    void wake_with(std::function<void()> wake);

    /// Adds jobs, and empties the list.
    void offer(std::vector<AttemptPtr>& fresh);

    /// Takes what has come.
    [[nodiscard]] Report take();

    /// Takes away the jobs that wait since before `since`; all of them with `never`.
    [[nodiscard]] std::vector<AttemptPtr> withdraw(TimePoint since);

    /// Lets the threads go: `next` returns null from now on.
    void close();

    [[nodiscard]] std::size_t running() const;
    [[nodiscard]] std::size_t waiting() const;

    // --- For those who do jobs ------------------------------------------------------------------

    /// The next job, which has a slot from now on; waits for one. Null at the end.
    [[nodiscard]] AttemptPtr next();

    /// The same, but null when there is none now.
    [[nodiscard]] AttemptPtr next_now();

    /// Reports a job, whose slot is free from now on. Once.
    void end(AttemptPtr attempt, JobVerdict verdict);

private:
    [[nodiscard]] bool may_begin() const noexcept { return count_ > 0 && running_ < slots_; }
    [[nodiscard]] AttemptPtr begin();
    void wake_loop();

    const OwnerProcess process_{"worker pool"};
    const std::size_t slots_;
    const bool strict_;
    mutable std::mutex mutex_;  // Guards the rest; held while waking, so no wake comes late.
    IdleThreads idle_;
    std::vector<std::deque<AttemptPtr>> waiting_;
    std::size_t count_ = 0;   // Of those that wait.
    std::size_t refill_ = 0;  // When so few wait, the loop is woken to fetch more.
    std::size_t running_ = 0;
    std::vector<Ended> ended_;
    std::vector<AttemptPtr> begun_;
    std::function<void()> wake_;
    bool woken_ = false;  // The loop was woken, and has not looked since.
    bool closed_ = false;
};

}  // namespace routemaster::detail
