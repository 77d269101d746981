/// @file
/// `JobContext`: what a handler knows of the job it does.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "routemaster/clock.hpp"
#include "routemaster/event.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/push_options.hpp"
#include "routemaster/result.hpp"
#include "routemaster/timer_options.hpp"
#include "routemaster/typed_job.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// One attempt at a job. The pool makes it, and so may the test of a handler.
///
/// Thread safety: all members may be called from any thread.
class JobContext {
public:
    /// Of the lease it keeps the queue, the fence, and what the store said of the job. The others
    /// are read for follow-ups, and must outlive their end; null: the defaults.
    JobContext(Job job, const Lease& lease, const Clock& clock = system_clock(),
               const PublicationOptions* publications = nullptr)
        : job_{std::move(job)},
          queue_{lease.queue},
          id_{lease.id},
          attempt_{lease.attempt},
          fence_{lease.fence},
          metadata_{lease.options->metadata},
          batch_{lease.options->batch},
          clock_{clock},
          publications_{publications} {}
    JobContext(const JobContext&) = delete;
    JobContext& operator=(const JobContext&) = delete;

    [[nodiscard]] const Job& job() const noexcept { return job_; }
    /// The name of the job.
    [[nodiscard]] const std::string& name() const noexcept { return job_.name; }
    /// The arguments of the job.
    [[nodiscard]] const Value::Array& arguments() const noexcept { return job_.arguments; }
    [[nodiscard]] const std::string& queue() const noexcept { return queue_; }
    [[nodiscard]] JobId id() const noexcept { return id_; }

    /// Which attempt this is, 1 for the first; 0 in a queue of Ruby Routemaster. An attempt
    /// counts even if its worker died with it, but for one case: see `PushOptions::attempts_max`.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

    /// A number that is greater with each attempt at any job of the store. A handler that writes to
    /// another system can have that refuse a number below the last it saw (a *fencing token*): so
    /// an attempt that was taken for dead, and goes on, does no harm there either. Where not every
    /// commit waits for the disk, a crash may take back the last ones with the jobs they began.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// What its push said in `PushOptions::metadata`.
    [[nodiscard]] const JobMetadata& metadata() const noexcept { return metadata_; }

    /// The batch that it belongs to, 0 for none. Its handler may push further jobs into it, as
    /// follow-ups or at once: the batch does not end before this job has.
    [[nodiscard]] JobBatchId batch() const noexcept { return batch_; }

    /// The job as a `T`. Throws `Bury` when its arguments are none.
    template <TypedJob T>
    [[nodiscard]] T as() const {
        auto typed = T::decode(job_.arguments);
        if (!typed) throw Bury{"arguments: " + typed.error().message()};
        return *std::move(typed);
    }

    // --- Follow-ups -----------------------------------------------------------------------------
    //
    // Jobs, events and timers that come into the store in the moment in which it forgets this job
    // as done, in one step with that, at every crash either all or none. They never happen when the
    // attempt fails, or is released, or its lease was lost; the next attempt begins without any.
    //
    // What is wrong with them by themselves is `invalid` here. What turns out only when the job is
    // done (the topic belongs to another publisher) makes the attempt fail. While the store is full
    // the job stays leased, and is not done until there is space.

    /// Pushes a job into a queue, as `JobQueue::push` would now: the times of `options` count from
    /// this call, and an equal job that is in the queue by then is kept. This job is not: it may
    /// push itself again. `invalid` for what a push would refuse, for more than `follow_ups_max` or
    /// `follow_up_bytes_max`, and once the attempt has ended.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options = {});

    /// The same with a struct of the program.
    template <TypedJob T>
    Result<void> push(const std::string& queue, const T& job, const PushOptions& options = {}) {
        return push(queue, to_job(job), options);
    }

    /// Publishes an event, as `WorkerPoolOptions::publications` says. `invalid` as above.
    Result<void> publish(const Event& event);

    /// Posts a timer, as `Delayer::post` would now, and returns its id: the delay counts from this
    /// call. `invalid` as above.
    Result<std::string> post(const std::string& space, const Value& payload, Duration delay,
                             TimerOptions options = {});

    /// Returns the follow-ups, if there are any, and lets nobody add more. The pool calls it at the
    /// end of the attempt, and so may the test of a handler.
    std::optional<FollowUps> take_follow_ups();

    // --- The end --------------------------------------------------------------------------------

    /// Stops when nobody waits for the result any more: the attempt has taken longer than its
    /// timeout, its lease was lost, the job was cancelled, or the pool ended. A handler that runs
    /// for long looks at it, or registers a `std::stop_callback`, which runs on a thread of the
    /// pool and must not block.
    [[nodiscard]] std::stop_token stop_token() const;

    /// The same as a question, which costs nothing.
    [[nodiscard]] bool stop_requested() const noexcept {
        return stopped_.load(std::memory_order_relaxed);
    }

    /// Stops the token. Repeating it does nothing.
    void request_stop();

private:
    enum class Follow : std::uint8_t { none, some, ended };

    /// Adds a follow-up by `add(FollowUps&)`.
    template <class Add>
    auto follow(Add add) -> decltype(add(std::declval<FollowUps&>()));

    Job job_;
    std::string queue_;
    JobId id_;
    std::uint32_t attempt_;
    std::uint64_t fence_;
    JobMetadata metadata_;
    JobBatchId batch_;
    const Clock& clock_;
    const PublicationOptions* publications_;
    std::atomic<bool> stopped_{false};
    std::atomic<Follow> follow_{Follow::none};        // Left `none` without the mutex.
    mutable std::mutex mutex_;                        // Guards the rest.
    mutable std::optional<std::stop_source> source_;  // Made when somebody asks for the token.
    FollowUps follow_ups_;
};

}  // namespace routemaster
