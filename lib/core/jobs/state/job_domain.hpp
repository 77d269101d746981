/// @file
/// `JobDomain`: the jobs, their queues, and the workers.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/bus/state/subscriber_queues.hpp"
#include "core/jobs/state/equal_jobs.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/state/name_limits.hpp"
#include "core/state/step_scope.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Performs `JobSteps`, `JobListSteps`, `QueueSteps`, `WorkerSteps` and `ThroughputSteps`. Pushes
/// the jobs of recurring jobs, and the follow-ups of completed jobs and timers. Not thread safe.
class JobDomain {
public:
    /// `batches` tells deliveries from other jobs.
    JobDomain(StepScope& scope, JobTable& jobs, const SubscriberQueueTable& batches,
              const NameLimits& limits)
        : scope_{scope}, jobs_{jobs}, batches_{batches}, limits_{limits} {}

    /// The effect of a step: the specialisations are in steps/. A step without a specialisation
    /// does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(JobSteps steps, Step& step);
    Outcome perform(JobListSteps steps, Step& step);
    Outcome perform(QueueSteps steps, Step& step);
    Outcome perform(WorkerSteps steps, Step& step);
    Outcome perform(ThroughputSteps steps, Step& step);

    /// Pushes a job, with its idempotency key.
    Result<Pushed> push(const PushJob& step);

    // --- Follow-ups: see CompletionDomain -------------------------------------------------------

    /// The job under this lease; null when the lease is lost.
    [[nodiscard]] JobState* leased(const Lease& lease) const { return jobs_.leased(lease); }
    /// An error for a delivery, which only `SettleDelivery` ends.
    [[nodiscard]] Result<void> may_complete(const JobState& job) const;
    void complete(JobState& job) { jobs_.complete(job, scope_.now); }
    /// An error when some push may not join its batch or create its queue.
    [[nodiscard]] Result<void> may_push_all(const std::vector<PushJob>& pushes);
    /// Before the end of the job `done`, if any.
    [[nodiscard]] EqualJobs equal_to(const std::vector<PushJob>& pushes, const JobState* done) {
        return {jobs_, pushes, done};
    }
    /// Pushes jobs after `may_push_all`.
    std::vector<Pushed> push_all(const std::vector<PushJob>& pushes, EqualJobs& equal);

private:
    /// Pushes a job and ignores its idempotency key.
    Result<Pushed> push_once(const PushJob& step);
    Result<Pushed> push_with_key(const PushJob& step);
    /// Pushes a job without a key into a queue without an equal job.
    Pushed push_new(QueueState& queue, const PushJob& step, std::uint32_t hash);
    /// An error when the queue is new and there are too many queues.
    [[nodiscard]] Result<void> may_open_queue(const std::string& name);
    [[nodiscard]] Error too_many_queues() const;

    StepScope& scope_;
    JobTable& jobs_;
    const SubscriberQueueTable& batches_;
    const NameLimits limits_;
};

}  // namespace routemaster::detail
