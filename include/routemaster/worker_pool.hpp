/// @file
/// `WorkerPool`: runs the jobs of one or several queues.
///
///     rm::WorkerPool pool{*store, {.queues = {"images"}, .threads = 4}};
///     pool.handle("resize", [](rm::JobContext& job) { ... });
///     pool.run(stop_token);
///
///     acquire ──► waiting ──► begin ──► handler ──► done: gone
///                    │                    │ │ └───► failed: again later, or BURIED
///                    └─ stop: released    │ └─────► snoozed, or the end of the grace: released
///                                         └───────► its lease was lost: nothing

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

/// Takes jobs from the store, runs their handlers, and settles them. Any number of pools, in any
/// processes, may share a queue.
///
/// **Who does a job.** One worker at a time. The pool says each second that it is alive, from a
/// thread that runs no handler. If it dies, its jobs run elsewhere within 5 s, and the attempt
/// counts. If it only stood still and comes back, it can settle nothing that was handed on: it
/// stops the tokens of those handlers, counts `lease_lost` and logs it.
///
/// **Timeout.** A handler that takes too long gets its stop token, and the attempt has failed at
/// that moment: what the handler does later has no effect on the job. Its slot stays busy until it
/// returns, as no thread can be stopped from outside; and the next attempt may begin meanwhile, if
/// the retry policy waits for less time than the handler takes to end.
///
/// **No handler.** A job of a name that has none here is left to other processes: released, with
/// the attempt not counted, and looked at again after 1 s, 2 s and so on up to a minute. It is
/// logged once for each name. A job that cannot be decoded is BURIED.
///
/// **Threads.** `start` makes one that talks to the store, and `WorkerPoolOptions::threads` for
/// handlers, which may use the store, waiting calls included, but not stop the pool, and must not
/// destroy it. With a loop of its own a program calls `poll` instead of `start`, as `Active` says;
/// with `threads = 0` handlers run inside it: nothing happens at the same time, which suits tests
/// on a `ManualClock`. A handler inside `poll` delays heartbeats and has no timeout, unless it is
/// asynchronous: it must be short, well below `worker_silence`.
///
/// **The end.** `stop` releases what has not begun, and lets handlers go on for the grace. Then it
/// stops their tokens and releases their jobs; their attempts do not count.
///
/// Declare handlers and middleware before the first `start`, `run` or `poll`; later it is `invalid`
/// and throws `Failure`, as does a name without letters, or a second handler of one name.
///
/// Thread safety: `status` and `trouble` from any thread; the rest from one at a time.
class WorkerPool final : public Active {
public:
    /// The store must outlive it.
    WorkerPool(Store& store, WorkerPoolOptions options);

    /// Stops as `stop(0)` does, if it was started. One that was polled leaves its jobs to be taken
    /// from it, unless it was closed first.
    ~WorkerPool() override;

    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Says who does the jobs of that name.
    void handle(std::string name, JobHandler handler, HandlerOptions options = {});
    void handle_async(std::string name, AsyncJobHandler handler, HandlerOptions options = {});

    /// Says who does the jobs of type `T`: it is called with a `const T&`, and with the
    /// `JobContext&` if it takes one. A job of that name whose arguments are no `T` is BURIED.
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

    /// Says who does the jobs of all names that have no handler, which then are left to nobody.
    /// Once.
    void handle_others(JobHandler handler, HandlerOptions options = {});

    /// Runs around all handlers; what is declared first is outermost.
    void use(JobMiddleware middleware);

    /// Begins to work, in threads of its own. Once, with `threads` above 0, and neither before nor
    /// after a `poll`, which throws, too: `Failure`, `invalid`. Throws `Failure` as well when the
    /// machine has no more threads, and is of no use then.
    void start();

    /// Ends what `start` began. Returns when no handler runs any more, and the store knows what
    /// became of each job; if the store fails to, 5 s after the grace at the latest, unless a
    /// handler still runs: it waits for that. Repeating it does nothing. Inside a completion of the
    /// store, and inside a handler of the pool, it throws `Failure`, `invalid`.
    void stop(Duration grace);

    /// Starts, waits until `stopping` is requested, and stops within `WorkerPoolOptions::grace`.
    void run(const std::stop_token& stopping);

    TimePoint poll(TimePoint now) override;
    void wake_with(std::function<void()> wake) override;
    void close(TimePoint deadline) override;
    [[nodiscard]] bool closed() const override;

    /// What it does now, and what it has done.
    [[nodiscard]] WorkerPoolStatus status() const;

    /// Why it gets no jobs: the store has given none and refused none for 5 s, or a thread of the
    /// pool is stuck. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace routemaster
