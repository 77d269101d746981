/// @file
/// `WorkerPool`: runs the jobs of one or several queues.
///
///     rm::WorkerPool pool{*store, {.queues = {"images"}, .threads = 4}};
///     pool.handle("resize", [](rm::JobContext& job) { ... });
///     pool.run(stop_token);
///
///     acquire ──► waiting ──► begin ──► handler ──► done: removed
///                    │                    │ │ └───► failed: retried, or BURIED
///                    └─ stop: released    │ └─────► snoozed, or grace exceeded: released
///                                         └───────► lease lost: no effect

#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "routemaster/active.hpp"
#include "routemaster/job_handler.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_pool_options.hpp"

namespace routemaster {

/// Polled object that acquires jobs from the store, runs their handlers, and settles the jobs. Any
/// number of pools, in any processes, may share a queue.
///
/// **Leases.** At any time, at most one worker has the right to settle a job. Each second the pool
/// sends a heartbeat, from a thread that runs no handler. If the pool crashes, its jobs run
/// elsewhere within 5 s, and their attempts count. If the pool was only suspended, and resumes
/// later, it cannot settle jobs that were acquired elsewhere. It then triggers the stop tokens of
/// their handlers, counts `lease_lost`, and logs the loss.
///
/// **Timeout.** If a handler exceeds its timeout, its stop token is triggered, and the
/// attempt has failed: whatever the handler does afterwards has no effect on the job. A
/// thread cannot be stopped from outside, so the slot stays in use until the handler returns.
/// If the retry delay is shorter than that, the next attempt begins before the old handler
/// has returned.
///
/// **No handler.** If the pool has no handler for the name of a job, it releases the job to other
/// processes, and the attempt does not count. Then it accepts no job with this name for 1 s, 2 s,
/// and so on up to a minute. Each name is logged once. A job that cannot be decoded is BURIED.
///
/// **Threads.** `start` creates one thread for the store's requests, and
/// `WorkerPoolOptions::threads` threads for handlers. Handlers may use the store, including
/// blocking calls. They must not stop or destroy the pool. A program with its own event loop calls
/// `poll` instead of `start`; see `Active`. With `threads = 0` handlers run inside `poll`, one
/// after another, which is useful for tests on a `ManualClock`. A synchronous handler inside `poll`
/// has no timeout and delays heartbeats, so it must be much shorter than `worker_silence`.
///
/// **Stopping.** `stop` releases the jobs that have not begun, and waits for running handlers
/// within the grace period. Then it triggers their stop tokens and releases their jobs. Attempts of
/// released jobs do not count.
///
/// **Declarations.** Declare handlers and middleware before the first `start`, `run` or `poll`. A
/// later declaration, an empty name, and a second handler for a name throw `Failure` with
/// `invalid`.
///
/// Thread safety: `status` and `trouble` may be called from any thread. Call all other members from
/// one thread at a time.
class WorkerPool final : public Active {
public:
    /// The store must outlive the pool.
    WorkerPool(Store& store, WorkerPoolOptions options);

    /// Calls `stop(0)` if the pool was started. If the pool was polled and not closed first, its
    /// leases remain in the store until another worker declares the pool dead (`ScrubWorkers`). If
    /// `stop` would throw, the destructor terminates the program with a message.
    ~WorkerPool() override;

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Declares the handler for jobs with this name.
    void handle(std::string name, JobHandler handler, HandlerOptions options = {});
    void handle_async(std::string name, AsyncJobHandler handler, HandlerOptions options = {});

    /// Declares the handler for jobs of type `T`. The handler is called with a `const T&`, and also
    /// with the `JobContext&` if it accepts two arguments. A job with this name whose arguments
    /// cannot be decoded as `T` is BURIED.
    template <TypedJob T, HandlesJob<T> Handler>
    void handle(Handler handler, HandlerOptions options = {}) {
        handle(
            std::string{std::string_view{T::name}},
            [handler = std::move(handler)](JobContext& context) mutable {
                const T job = context.as<T>();
                if constexpr (std::is_invocable_v<Handler&, const T&, JobContext&>) {
                    handler(job, context);
                } else {
                    handler(job);
                }
            },
            std::move(options));
    }

    /// Declares the handler for jobs of all names without a handler. The pool then releases no job
    /// to other processes for lack of a handler. May be called once.
    void handle_others(JobHandler handler, HandlerOptions options = {});

    /// Adds a middleware, which runs around all handlers. The middleware added first is outermost.
    void use(JobMiddleware middleware);

    /// Starts the threads. May be called once, with `threads` above 0, and not together with
    /// `poll`; otherwise `start` or `poll` throws `Failure` with `invalid`. Also throws `Failure`
    /// if the system cannot create the threads; the pool is then unusable.
    void start();

    /// Stops a started pool. When `stop` returns, no handler runs any more, and the store has
    /// received the settlement of each job. If the store is unavailable, settlements are abandoned
    /// 5 s after the grace period. In any case `stop` waits until all handlers have returned.
    /// Repeating the call does nothing. Throws `Failure` with `invalid` inside a completion of the
    /// store, and inside a handler of the pool.
    void stop(Duration grace);

    /// Starts, waits until `stopping` is requested, and stops with `WorkerPoolOptions::grace`.
    void run(const std::stop_token& stopping);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// Counters of the pool since its construction, and its current load.
    [[nodiscard]] WorkerPoolStatus status() const;

    /// Returns why the pool gets no jobs: for 5 s the store has not replied, or only with errors,
    /// or a thread of the pool is blocked. Empty if the pool is healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
