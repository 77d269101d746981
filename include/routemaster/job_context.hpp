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

#include "routemaster/job.hpp"
#include "routemaster/job_exceptions.hpp"
#include "routemaster/job_metadata.hpp"
#include "routemaster/typed_job.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// One attempt at a job. The pool makes it, and so may the test of a handler.
///
/// Thread safety: all members may be called from any thread.
class JobContext {
public:
    /// Of the lease it keeps the queue, the fence, and what the store said of the job.
    JobContext(Job job, const Lease& lease)
        : job_{std::move(job)},
          queue_{lease.queue},
          id_{lease.id},
          attempt_{lease.attempt},
          fence_{lease.fence},
          metadata_{lease.metadata} {}
    JobContext(const JobContext&) = delete;
    JobContext& operator=(const JobContext&) = delete;

    [[nodiscard]] const Job& job() const noexcept { return job_; }
    /// The name of the job.
    [[nodiscard]] const std::string& name() const noexcept { return job_.name; }
    /// The arguments of the job.
    [[nodiscard]] const Value::Array& arguments() const noexcept { return job_.arguments; }
    [[nodiscard]] const std::string& queue() const noexcept { return queue_; }
    [[nodiscard]] JobId id() const noexcept { return id_; }

    /// Which attempt this is, 1 for the first; 0 in a queue of Ruby Routemaster. An attempt counts
    /// even if its worker died with it.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }

    /// A number that is greater with each attempt at any job of the store. A handler that writes to
    /// another system can have that refuse a number below the last it saw (a *fencing token*): so
    /// an attempt that was taken for dead, and goes on, does no harm there either.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// What its push said in `PushOptions::metadata`.
    [[nodiscard]] const JobMetadata& metadata() const noexcept { return metadata_; }

    /// The job as a `T`. Throws `Bury` when its arguments are none.
    template <TypedJob T>
    [[nodiscard]] T as() const {
        auto typed = T::decode(job_.arguments);
        if (!typed) throw Bury{"arguments: " + typed.error().message()};
        return *std::move(typed);
    }

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
    Job job_;
    std::string queue_;
    JobId id_;
    std::uint32_t attempt_;
    std::uint64_t fence_;
    JobMetadata metadata_;
    std::atomic<bool> stopped_{false};
    mutable std::mutex mutex_;                        // Guards `source_`.
    mutable std::optional<std::stop_source> source_;  // Made when somebody asks for the token.
};

}  // namespace routemaster
