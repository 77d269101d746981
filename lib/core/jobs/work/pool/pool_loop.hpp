/// @file
/// `PoolLoop`: acquires the jobs of a worker pool, passes jobs to threads, and settles jobs.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/jobs/work/lease_loop.hpp"
#include "core/jobs/work/pool/attempt.hpp"
#include "core/jobs/work/pool/handler_table.hpp"
#include "core/jobs/work/pool/job_board.hpp"
#include "core/jobs/work/pool/prefetch.hpp"
#include "core/jobs/work/pool/slot_shares.hpp"
#include "core/jobs/work/pool/unhandled_names.hpp"
#include "routemaster/active.hpp"
#include "routemaster/random.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_pool_options.hpp"

namespace routemaster::detail {

/// Active object with a lease loop for each queue, and the threads that run handlers.
///
/// Thread safety: as `Active` says; `status` and `trouble` may be called from any thread.
class PoolLoop final : public Active {
public:
    /// The store must outlive the loop. All handlers must be declared before the first `poll`.
    PoolLoop(Store& store, WorkerPoolOptions options, std::shared_ptr<HandlerTable> handlers);
    PoolLoop(const PoolLoop&) = delete;
    PoolLoop& operator=(const PoolLoop&) = delete;
    ~PoolLoop() override;

    /// Starts the threads; later calls do nothing. Throws `Failure` when a thread cannot be
    /// started; the object is unusable then. Called by `poll`, too.
    void begin();

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// Whether `poll` or `begin` was called. From then on, no handlers may be declared.
    [[nodiscard]] bool begun() const noexcept { return begun_; }

    /// Ends the threads, after waiting for running handlers.
    void join();

    [[nodiscard]] WorkerPoolStatus status() const;
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    using Id = LeaseLoop::Id;

    struct Queue final : LeaseLoop::Owner {
        Queue(Store& store, LeaseLoopOptions options, PoolLoop& in, std::size_t at)
            : pool{in}, place{at}, loop{store, std::move(options), *this} {}

        void describe(Heartbeat& heartbeat) override { pool.describe(*this, heartbeat); }
        void acquired(Id id, const Lease& lease) override { pool.acquired(*this, id, lease); }
        void settled(Id id, Settlement settlement) override { pool.settled(*this, id, settlement); }
        void lost(Id id) override { pool.lost(*this, id); }
        void cancelled(Id id) override { PoolLoop::cancelled(*this, id); }
        void unfit(Id id, const Error& error) override { pool.unfit(*this, id, error); }

        PoolLoop& pool;
        const std::size_t place;
        LeaseLoop loop;
        std::unordered_map<Id, AttemptPtr> attempts;
        std::shared_ptr<const WorkerProfile> profile{};  // Created for the first heartbeat.
    };

    /// The numbers in `status`. Only the loop writes them.
    struct Counts {
        std::atomic<std::uint64_t> done{0};
        std::atomic<std::uint64_t> failed{0};
        std::atomic<std::uint64_t> timed_out{0};
        std::atomic<std::uint64_t> buried{0};
        std::atomic<std::uint64_t> released{0};
        std::atomic<std::uint64_t> snoozed{0};
        std::atomic<std::uint64_t> lease_lost{0};
        std::atomic<std::uint64_t> unhandled{0};
    };

    /// A job that waits this long for a slot is released to its queue.
    static constexpr Duration waiting_max{1'000};
    static constexpr std::size_t acquired_max = 512;

    // --- Calls of the lease loops ---------------------------------------------------------------

    void describe(Queue& queue, Heartbeat& heartbeat) const;
    void acquired(Queue& queue, Id id, const Lease& lease);
    void settled(Queue& queue, Id id, Settlement settlement);
    void lost(Queue& queue, Id id);
    static void cancelled(const Queue& queue, Id id);
    void unfit(Queue& queue, Id id, const Error& error);

    // --- Ended attempts -------------------------------------------------------------------------

    void run_inside();
    void watch(const AttemptPtr& attempt);
    void time_out();
    /// Settles a job as its handler reported. Does nothing if the attempt was abandoned meanwhile.
    void end(const AttemptPtr& attempt, JobVerdict& verdict);
    [[nodiscard]] Step failure(const Lease& lease, std::string_view name, JobVerdict verdict,
                               const RetryPolicy& policy);
    void forget_timeout(Attempt& attempt);
    /// Moves all timeouts after the clock was set back. Each attempt retains its remaining time.
    void shift_timeouts(Duration by);
    static void give_up(Attempt& attempt);

    void release_waiting(TimePoint since);
    void release_running();

    // --- Acquiring jobs -------------------------------------------------------------------------

    /// Assigns each queue its share of the free slots, and lets its lease loop request jobs.
    TimePoint send(std::size_t taken);

    [[nodiscard]] bool over() const { return !queues_.empty() && queues_.front()->loop.over(now_); }
    void log(LogLevel level, const std::string& text) const {
        if (options_.log) options_.log(level, text);
    }

    const WorkerPoolOptions options_;
    const Clock& clock_;  // Used by handlers. The loop itself gets the time from `poll`.
    const std::size_t slots_;
    std::shared_ptr<HandlerTable> handlers_;
    std::shared_ptr<JobBoard> board_;
    Random random_;
    std::vector<std::unique_ptr<Queue>> queues_;
    SlotShares shares_;
    Prefetch prefetch_;
    UnhandledNames unhandled_;
    TimePoint now_{};
    std::atomic<bool> begun_ = false;  // Read by other threads.
    bool closing_ = false;
    std::vector<AttemptPtr> fresh_;  // Acquired jobs that are not yet offered to the threads.
    Timeouts timeouts_;
    Counts counts_;
    std::vector<std::jthread> threads_;  // Last: threads must end before other members.
};

}  // namespace routemaster::detail
