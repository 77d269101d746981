/// @file
/// `JobQueue`: durable jobs, each at most once in its queue.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Settings of one push.
struct PushOptions {
    Duration delay{0};                  ///< How long from now the job falls due.
    std::optional<TimePoint> run_at{};  ///< When it falls due; overrides `delay`.
};

/// One queue of a store. Any number of objects, in any processes, may share one.
///
/// A job that was `pushed` survives a crash as the store promises, and is done at least once. Its
/// name must not be empty, else `invalid`.
///
/// A name that is none by `is_queue_name`, and `delivery_queue`, which is the bus's own, make every
/// call answer `invalid`.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueue {
public:
    /// The store and the clock must outlive the queue.
    JobQueue(Store& store, std::string name, const Clock& clock = system_clock());

    /// Puts a job into the queue. Returns `duplicate`, which is not an error, when the job is there
    /// already, in any state.
    Result<PushOutcome> push(const Job& job, PushOptions options = {});
    void push(const Job& job, PushOptions options, std::function<void(Result<PushOutcome>)> done);

    /// Puts many jobs into the queue, in order, in one trip to the store, and returns the result of
    /// each. On an embedded store they share one commit: after a crash all of them are there, or
    /// none. Jobs in doubt (`timed_out`) may be pushed again.
    std::vector<Result<PushOutcome>> push_many(std::span<const Job> jobs, PushOptions options = {});
    void push_many(std::span<const Job> jobs, PushOptions options,
                   std::function<void(std::vector<Result<PushOutcome>>)> done);

    /// Counts the jobs in each state.
    [[nodiscard]] Result<QueueStatus> status() const;
    void status(std::function<void(Result<QueueStatus>)> done) const;

private:
    struct Many;

    [[nodiscard]] Result<void> check_name() const;
    [[nodiscard]] Result<PushJob> step(const Job& job, const PushOptions& options,
                                       TimePoint now) const;
    [[nodiscard]] Many many(std::span<const Job> jobs, const PushOptions& options,
                            TimePoint now) const;

    Store& store_;
    std::string name_;
    const Clock& clock_;
};

}  // namespace routemaster
