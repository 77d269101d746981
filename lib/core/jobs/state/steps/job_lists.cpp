#include "core/jobs/state/job_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<CountJobs::Reply> JobDomain::apply(CountJobs& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    return queue == nullptr ? QueueStatus{} : JobReports::count(*queue, scope_.now);
}

template <>
Result<FindJob::Reply> JobDomain::apply(FindJob& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    const auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return FindJob::Reply{};
    return FindJob::Reply{jobs_.reports().status(*job, scope_.now)};
}

template <>
Result<ExplainJob::Reply> JobDomain::apply(ExplainJob& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    const auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return ExplainJob::Reply{};
    return ExplainJob::Reply{jobs_.reports().explain(*job, scope_.now)};
}

template <>
Result<ListJobs::Reply> JobDomain::apply(ListJobs& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    return queue == nullptr ? JobPage{} : jobs_.reports().list(*queue, step, scope_.now);
}

template <>
Result<KickJobs::Reply> JobDomain::apply(KickJobs& step) {
    auto* queue = jobs_.queues().find(step.queue);
    return Count{queue == nullptr ? 0 : jobs_.kick(*queue, step, scope_.now)};
}

template <>
Result<DeleteJob::Reply> JobDomain::apply(DeleteJob& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return Deletion::unknown;
    if (job->state == JobState::State::pending) return Deletion::pending;
    jobs_.drop(*job, JobRemoval::deleted, scope_.now);
    return Deletion::deleted;
}

template <>
Result<CancelJob::Reply> JobDomain::apply(CancelJob& step) {
    const auto* queue = jobs_.queues().find(step.queue);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    return job == nullptr ? Cancellation::unknown : jobs_.cancel(*job, scope_.now);
}

Outcome JobDomain::perform(JobListSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
