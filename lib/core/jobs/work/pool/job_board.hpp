/// @file
/// `JobBoard`: passes jobs between the loop of a pool and its threads.
///
///     loop ──offer──► waiting ──next──► under way ──end──► ended ──take──► loop
///                        └──────withdraw──────► loop

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include "core/jobs/work/pool/attempt.hpp"
#include "core/jobs/work/pool/job_verdict.hpp"
#include "core/system/owner_process.hpp"
#include "core/work/idle_threads.hpp"

namespace routemaster::detail {

/// Queue of jobs waiting for a slot, and of ended jobs. A begun job occupies a slot until its end,
/// whether in a thread or in a responder.
///
/// There is one lock. A thread locks it once per job, the loop once per poll. Wake-ups are rare:
/// threads are woken one at a time, and each wakes the next when jobs remain. The loop is woken to
/// fetch more jobs, or when a job ended and no job waits. Otherwise the loop polls every
/// `look_interval`.
///
/// Beginning and ending a job allocates nothing, because an exception for lack of memory on the
/// thread of a handler would end the program. `offer` allocates the list nodes for both.
///
/// Thread safety: all members from any thread. The object may outlive the pool.
class JobBoard {
public:
    struct Ended {
        AttemptPtr attempt;
        JobVerdict verdict;
    };

    struct Report {
        std::list<Ended> ended{};
        std::list<AttemptPtr> begun{};  ///< Only jobs with a timeout.
        std::size_t waiting = 0;
        std::size_t running = 0;
    };

    /// How long an ended job may wait here for the loop while other jobs wait for a slot.
    static constexpr Duration look_interval{2};

    /// With `strict`, the jobs of a queue begin before all jobs of later queues in the list.
    /// Otherwise jobs begin in the order of arrival.
    JobBoard(std::size_t queues, std::size_t slots, bool strict)
        : slots_{slots}, strict_{strict}, waiting_(strict ? queues : 1) {}

    // --- For the loop ---------------------------------------------------------------------------

    /// Sets a function that is called, from any thread, when the loop should poll.
    void wake_with(std::function<void()> wake);

    void offer(std::vector<AttemptPtr>& fresh);

    [[nodiscard]] Report take();

    /// Removes and returns jobs that have been waiting since before `since`; with `never`, all
    /// waiting jobs.
    [[nodiscard]] std::vector<AttemptPtr> withdraw(TimePoint since);

    /// Ends the threads: from now on, `next` returns null.
    void close();

    [[nodiscard]] std::size_t running() const;
    [[nodiscard]] std::size_t waiting() const;

    // --- For threads ----------------------------------------------------------------------------

    /// Waits for a job and a free slot. Returns the job, which then occupies the slot. Null after
    /// `close`.
    [[nodiscard]] AttemptPtr next();

    /// The next job, which then occupies a slot. Null when no job may begin now.
    [[nodiscard]] AttemptPtr next_now();

    /// Reports the end of a job and frees its slot. To be called once per job.
    void end(AttemptPtr attempt, JobVerdict verdict);

private:
    [[nodiscard]] bool may_begin() const noexcept { return count_ > 0 && running_ < slots_; }
    [[nodiscard]] AttemptPtr begin();
    void wake_loop();

    const OwnerProcess process_{"worker pool"};
    const std::size_t slots_;
    const bool strict_;
    // Guards the members below. It is locked during calls of `wake_`: no call of the old function
    // begins after `wake_with` returned.
    mutable std::mutex mutex_;
    IdleThreads idle_;
    std::vector<std::deque<AttemptPtr>> waiting_;
    std::size_t count_ = 0;
    std::size_t refill_ = 0;  // When no more jobs than this wait, the loop is woken to fetch more.
    std::size_t running_ = 0;
    std::list<Ended> ended_;
    std::list<Ended> ended_places_;  // Unused list nodes, one for each waiting or running job.
    std::list<AttemptPtr> begun_;
    std::list<AttemptPtr> begun_places_;  // Unused nodes, one per waiting job with a timeout.
    std::function<void()> wake_;
    bool woken_ = false;  // The loop was woken and has not polled since.
    bool closed_ = false;
};

}  // namespace routemaster::detail
