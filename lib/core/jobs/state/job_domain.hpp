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

/// Part of the state machine (`Machine`) that performs the steps on jobs, queues and workers. Other
/// domains use it to push the jobs of recurring jobs, and the jobs that a completed job or timer
/// adds (its follow-ups). Not thread safe.
class JobDomain {
public:
    /// `batches` tells which jobs are delivery jobs.
    JobDomain(StepScope& scope, JobTable& jobs, const SubscriberQueueTable& batches,
              const NameLimits& limits)
        : scope_{scope}, jobs_{jobs}, batches_{batches}, limits_{limits} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(JobSteps steps, Step& step);
    Outcome perform(JobListSteps steps, Step& step);
    Outcome perform(QueueSteps steps, Step& step);
    Outcome perform(WorkerSteps steps, Step& step);
    Outcome perform(ThroughputSteps steps, Step& step);

    Result<Pushed> push(const PushJob& step);

    // --- Follow-ups: see CompletionDomain -------------------------------------------------------

    [[nodiscard]] JobState* leased(const Lease& lease) const { return jobs_.leased(lease); }
    /// An error if the job is a delivery job, because only `SettleDelivery` may complete it.
    [[nodiscard]] Result<void> may_complete(const JobState& job) const;
    void complete(JobState& job) { jobs_.complete(job, scope_.now); }
    /// An error when one of the pushes may not join its batch or create its queue.
    [[nodiscard]] Result<void> may_push_all(const std::vector<PushJob>& pushes);
    /// Must be called before the job `done`, if not null, is completed.
    [[nodiscard]] EqualJobs equal_to(const std::vector<PushJob>& pushes, const JobState* done) {
        return {jobs_, pushes, done};
    }
    /// Pushes jobs that passed `may_push_all`.
    std::vector<Pushed> push_all(const std::vector<PushJob>& pushes, EqualJobs& equal);

private:
    /// Pushes a job. Ignores the idempotency key, which the caller has checked.
    Result<Pushed> push_once(const PushJob& step);
    Result<Pushed> push_with_key(const PushJob& step);
    /// Pushes a job without a key into a queue without an equal job.
    Pushed push_new(QueueState& queue, const PushJob& step, std::uint32_t hash);
    [[nodiscard]] Result<void> may_open_queue(const std::string& name);
    [[nodiscard]] Error too_many_queues() const;

    StepScope& scope_;
    JobTable& jobs_;
    const SubscriberQueueTable& batches_;
    const NameLimits limits_;
};

}  // namespace routemaster::detail
