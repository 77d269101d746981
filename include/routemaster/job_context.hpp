/// @file
/// `JobContext`: the job that a handler runs, its attempt, and its follow-ups, the jobs, events and
/// timers that the handler adds.

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

/// One attempt at a job, as the job's handler sees it. A `WorkerPool` constructs the context; a
/// test of a handler may construct one, too.
///
/// Thread safety: all members may be called from any thread.
class JobContext {
public:
    /// Copies the queue, the fence, and the store's data about the job from `lease`. `clock` and
    /// `publications` are used for follow-ups, and must outlive the attempt. If `publications` is
    /// null, the defaults apply.
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

    /// The number of this attempt, 1 for the first; 0 in a queue of Ruby Routemaster. An attempt
    /// whose worker crashed counts, too, with one exception: see `PushOptions::attempts_max`.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

    /// A *fencing token*: a number that increases with each attempt at any job of the store. A
    /// handler can send it to a second system, which rejects numbers below the highest it has seen.
    /// A handler that runs after its worker counted as dead then does no harm there. If commits are
    /// not flushed to disk at once, a crash may undo the last attempts, and reuse their numbers.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// The metadata from `PushOptions::metadata`.
    [[nodiscard]] const JobMetadata& metadata() const noexcept { return metadata_; }

    /// The batch of the job; 0: no batch. The handler may push further jobs into the batch, as
    /// follow-ups or at once, because the batch does not end before this job does.
    [[nodiscard]] JobBatchId batch() const noexcept { return batch_; }

    /// Decodes the job's arguments as a `T`. Throws `Bury` when they cannot be decoded.
    template <TypedJob T>
    [[nodiscard]] T as() const {
        auto typed = T::decode(job_.arguments);
        if (!typed) throw Bury{"arguments: " + typed.error().message()};
        return *std::move(typed);
    }

    // --- Follow-ups -----------------------------------------------------------------------------
    //
    // Jobs, events and timers that the store adds in the atomic step that removes this job as done.
    // After a crash, all of them exist or none. If the attempt fails or is released, or its lease
    // is lost, its follow-ups are discarded. The next attempt begins without follow-ups.
    //
    // A malformed follow-up is `invalid` here. Other errors occur only when the job is done: if the
    // topic belongs to another publisher, the attempt fails. If the store is full, the job stays
    // leased, and is completed when the store has space again.

    /// Adds the push of a job. The times of `options` count from this call. If the queue then
    /// contains an equal job, nothing is pushed; the current job does not count, so a job may push
    /// itself again. `invalid` for a push that `JobQueue::push` would reject, beyond
    /// `follow_ups_max` or `follow_up_bytes_max`, and after the attempt has ended.
    Result<void> push(const std::string& queue, const Job& job, const PushOptions& options = {});

    /// Like `push`, with a struct of the program.
    template <TypedJob T>
    Result<void> push(const std::string& queue, const T& job, const PushOptions& options = {}) {
        return push(queue, to_job(job), options);
    }

    /// Adds the publication of an event, with the settings of `WorkerPoolOptions::publications`.
    /// `invalid` as for `push`.
    Result<void> publish(const Event& event);

    /// Adds a timer, as `Delayer::post` does, and returns its id. The delay counts from this call.
    /// `invalid` as for `push`.
    Result<std::string> post(const std::string& space, const Value& payload, Duration delay,
                             TimerOptions options = {});

    /// Returns the follow-ups, if there are any, and rejects later ones. The pool calls this
    /// function at the end of the attempt; a test of a handler may call it, too.
    std::optional<FollowUps> take_follow_ups();

    // --- Cancellation ---------------------------------------------------------------------------

    /// Returns a stop token, which is triggered when the attempt's result is no longer needed: the
    /// attempt exceeded its timeout, its lease was lost, the job was cancelled, or the pool
    /// stopped. A long-running handler polls the token, or registers a `std::stop_callback`, which
    /// runs on a thread of the pool and must not block.
    [[nodiscard]] std::stop_token stop_token() const;

    /// Whether the stop token was triggered; a single atomic read.
    [[nodiscard]] bool stop_requested() const noexcept {
        return stopped_.load(std::memory_order_relaxed);
    }

    /// Triggers the stop token. Repeating the call does nothing.
    void request_stop();

private:
    enum class Follow : std::uint8_t { none, some, ended };

    /// Calls `add(FollowUps&)` under the lock, unless the attempt has ended.
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
    std::atomic<Follow> follow_{Follow::none};        // Changed from `none` without the mutex.
    mutable std::mutex mutex_;                        // Guards the members below.
    mutable std::optional<std::stop_source> source_;  // Made by the first `stop_token`.
    FollowUps follow_ups_;
};

}  // namespace routemaster
