/// @file
/// `JobTester`: runs the jobs of a program in a test, on one thread, with a manual clock.
///
///     rm::testing::JobTester jobs{{.queues = {"mail"}}};
///     jobs.pool().handle("welcome", [&](rm::JobContext& job) { ... });
///     sign_up("ada", jobs.store());              // The code under test pushes jobs.
///     CHECK(jobs.pushed("welcome").size() == 1);
///     jobs.drain();                              // Runs the jobs.
///     jobs.advance(std::chrono::hours{1});       // Runs the jobs due in the next hour, in order.

#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/recurring_scheduler.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/testing/pushed_job.hpp"
#include "routemaster/time.hpp"
#include "routemaster/typed_job.hpp"
#include "routemaster/worker_pool.hpp"

namespace routemaster::testing {

/// Test fixture with a store in memory, a manual clock, and a pool without threads. The pool runs
/// jobs only inside `drain` and `advance`, so a test can inspect the pushes before the jobs run.
///
/// Handlers fail, are retried and end as in any pool; asynchronous handlers may report at any time.
/// A job without a handler stays in its queue, and is counted as `unhandled` in the pool's status.
/// Follow-ups of a job (`JobContext::push`) are pushed when its handler has succeeded. Callbacks of
/// a batch (`JobBatches`) run when its last job has ended. Recurring jobs (`RecurringJobs`) run at
/// their ticks; `CatchUp` applies to missed ticks. `pushed` does not list callbacks, and lists
/// recurring jobs only if they were triggered.
///
/// Thread safety: one thread at a time.
class JobTester {
public:
    /// Overrides the clock, threads, seed, and the intervals of polls and heartbeats in `options`.
    /// Throws as `WorkerPool` does.
    explicit JobTester(WorkerPoolOptions options)
        : store_{*this},
          scheduler_{store_, {look_interval}},
          pool_{store_, alone(std::move(options), clock_)} {}
    JobTester(const JobTester&) = delete;
    JobTester& operator=(const JobTester&) = delete;

    /// The store for the code under test.
    [[nodiscard]] Store& store() noexcept { return store_; }
    /// The clock for the code under test.
    [[nodiscard]] ManualClock& clock() noexcept { return clock_; }
    /// The pool. Declare its handlers before the first `drain`.
    [[nodiscard]] WorkerPool& pool() noexcept { return pool_; }
    /// Returns a queue of the store, with the manual clock.
    [[nodiscard]] JobQueue queue(std::string name) { return {store_, std::move(name), clock_}; }

    /// True: from now on, each push calls `drain` before it returns; a push inside a handler is
    /// drained after the handler. False: jobs wait for `drain` again.
    void run_at_once(bool at_once) noexcept { at_once_ = at_once; }

    /// Runs all due jobs, and the jobs that they push, until no job is due. Returns the number of
    /// attempts that ended.
    std::size_t drain() {
        const auto before = ended();
        draining_ = true;
        while (poll() <= clock_.now()) {
        }
        draining_ = false;
        return ended() - before;
    }

    /// Advances the clock by `span`, and runs each job at its due time, as `drain` does. Returns
    /// the number of attempts that ended.
    std::size_t advance(Duration span) {
        const auto end = saturating_add(clock_.now(), span);
        auto attempts = drain();
        while (clock_.now() < end) {
            clock_.set(std::clamp(poll(), clock_.now(), end));
            attempts += drain();
        }
        return attempts;
    }

    /// Returns the pushes so far, in order; with `name`, only those of jobs with this name.
    [[nodiscard]] std::vector<PushedJob> pushed(std::string_view name = {}) const {
        std::vector<PushedJob> found;
        for (const auto& each : pushed_) {
            if (name.empty() || each.job.name == name) found.push_back(each);
        }
        return found;
    }

    /// Returns the pushes so far of jobs with this name and these arguments.
    [[nodiscard]] std::vector<PushedJob> pushed(std::string_view name,
                                                const Value::Array& arguments) const {
        auto found = pushed(name);
        std::erase_if(found, [&](const auto& each) { return each.job.arguments != arguments; });
        return found;
    }

    /// Returns the pushes so far of jobs that equal `job`.
    template <TypedJob T>
    [[nodiscard]] std::vector<PushedJob> pushed(const T& job) const {
        return pushed(std::string_view{T::name}, job.encode());
    }

    /// Clears the list of pushes.
    void forget_pushed() noexcept { pushed_.clear(); }

private:
    /// Store wrapper that records pushes.
    class Recorder final : public ForwardingStore {
    public:
        explicit Recorder(JobTester& tester) : ForwardingStore{tester.memory_}, tester_{tester} {}

        void submit(std::span<Step> steps, TimePoint now, Completion done) override {
            const std::vector<Step> asked{steps.begin(), steps.end()};
            bool pushes = false;
            next().submit(steps, now, [&](std::span<Outcome> outcomes) {
                for (std::size_t i = 0; i < asked.size(); ++i) {
                    pushes |= tester_.note(asked[i], outcomes[i]);
                }
                done(outcomes);
            });
            if (pushes && tester_.at_once_ && !tester_.draining_) tester_.drain();
        }

    private:
        JobTester& tester_;
    };

    /// Long, because no wake-up is lost here, and each poll costs `advance` an iteration.
    static constexpr Duration look_interval{60'000};

    static WorkerPoolOptions alone(WorkerPoolOptions options, const Clock& clock) {
        options.threads = 0;
        options.clock = &clock;
        options.seed = 1;
        options.heartbeat_interval = options.poll_interval = look_interval;
        options.worker_silence = 10 * look_interval;
        return options;
    }

    /// Polls scheduler and pool. The next poll is the earlier of both, because each may add work.
    TimePoint poll() { return (std::min)(scheduler_.poll(clock_.now()), pool_.poll(clock_.now())); }

    /// Records a push. Returns whether the step may have added a job to a queue.
    bool note(const Step& step, const Outcome& outcome) {
        if (!outcome) return false;
        if (const auto* push = std::get_if<PushJob>(&step)) {
            return note(*push, std::get<Pushed>(*outcome));
        }
        // These steps may end a batch and push its callbacks, which are not recorded.
        if (std::holds_alternative<CloseJobBatch>(step) ||
            std::holds_alternative<DeleteJob>(step) || std::holds_alternative<CancelJob>(step)) {
            return true;
        }
        const auto* end = std::get_if<CompleteJob>(&step);
        if (end == nullptr) return false;
        bool pushes = false;
        const auto& replies = std::get<Completed>(*outcome).pushed;
        for (std::size_t i = 0; i < replies.size(); ++i) pushes |= note(end->pushes[i], replies[i]);
        return pushes;
    }

    bool note(const PushJob& push, const Pushed& reply) {
        if (reply == PushOutcome::duplicate) return false;
        auto job = decode_job(push.job);
        if (!job) return false;
        pushed_.push_back({push.queue, *std::move(job), push.options, push.run_at, reply.id});
        return true;
    }

    [[nodiscard]] std::size_t ended() const {
        const auto status = pool_.status();
        return status.done + status.failed + status.released;
    }

    MemoryStore memory_;
    ManualClock clock_;
    std::vector<PushedJob> pushed_;
    bool at_once_ = false;
    bool draining_ = false;
    Recorder store_;
    RecurringScheduler scheduler_;
    WorkerPool pool_;
};

}  // namespace routemaster::testing
