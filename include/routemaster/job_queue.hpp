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
    Duration delay{0};                  ///< From now to the job's falling due.
    std::optional<TimePoint> run_at{};  ///< When it falls due; stands above `delay`.
};

/// One queue of a store. Any number of objects, in any processes, may share one.
///
/// A job that was `pushed` survives a crash as the store promises, and is done at least once.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueue {
public:
    /// The store and the clock must outlive the queue.
    JobQueue(Store& store, std::string name, const Clock& clock = system_clock());

    /// Puts a job into the queue. One that is there already, in whatever state, is a `duplicate`,
    /// which is not an error.
    Result<PushOutcome> push(const Job& job, PushOptions options = {});
    void push(const Job& job, PushOptions options, std::function<void(Result<PushOutcome>)> done);

    /// Puts many jobs into the queue, in order, sharing one trip to the store, and tells what
    /// became of each. On an embedded store they share one commit: after a crash all of them are
    /// there, or none. Those that are in doubt (`timed_out`) may simply be pushed again.
    std::vector<Result<PushOutcome>> push_many(std::span<const Job> jobs, PushOptions options = {});
    void push_many(std::span<const Job> jobs, PushOptions options,
                   std::function<void(std::vector<Result<PushOutcome>>)> done);

    /// How many jobs there are in which state.
    [[nodiscard]] Result<QueueStatus> status() const;
    void status(std::function<void(Result<QueueStatus>)> done) const;

private:
    [[nodiscard]] PushJob step(const Job& job, const PushOptions& options, TimePoint now) const;

    [[nodiscard]] std::vector<Step> steps(std::span<const Job> jobs, const PushOptions& options,
                                          TimePoint now) const;

    [[nodiscard]] static std::vector<Result<PushOutcome>> replies(std::span<Outcome> outcomes);

    Store& store_;
    std::string name_;
    const Clock& clock_;
};

}  // namespace routemaster
