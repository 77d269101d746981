#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<CountJobs::Reply> Machine::apply(CountJobs& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    return queue == nullptr ? QueueStatus{} : JobTable::count(*queue, now_);
}

template <>
Result<FindJob::Reply> Machine::apply(FindJob& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    const auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return FindJob::Reply{};
    return FindJob::Reply{jobs_.status(*job, now_)};
}

template <>
Result<ExplainJob::Reply> Machine::apply(ExplainJob& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    const auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return ExplainJob::Reply{};
    return ExplainJob::Reply{jobs_.explain(*job, now_)};
}

template <>
Result<ListJobs::Reply> Machine::apply(ListJobs& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    return queue == nullptr ? JobPage{} : jobs_.list(*queue, step, now_);
}

template <>
Result<KickJobs::Reply> Machine::apply(KickJobs& step) {
    auto* queue = jobs_.find_queue(step.queue);
    return Count{queue == nullptr ? 0 : jobs_.kick(*queue, step, now_)};
}

template <>
Result<DeleteJob::Reply> Machine::apply(DeleteJob& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    if (job == nullptr) return Deletion::unknown;
    if (job->state == JobState::State::pending) return Deletion::pending;
    jobs_.drop(*job, JobFate::deleted, now_);
    return Deletion::deleted;
}

template <>
Result<CancelJob::Reply> Machine::apply(CancelJob& step) {
    const auto* queue = jobs_.find_queue(step.queue);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(step.id);
    return job == nullptr ? Cancellation::unknown : jobs_.cancel(*job, now_);
}

Outcome Machine::perform_in(JobListSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
