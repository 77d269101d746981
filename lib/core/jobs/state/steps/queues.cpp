#include "core/jobs/state/job_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<PauseQueue::Reply> JobDomain::apply(PauseQueue& step) {
    if (auto may = step.paused ? may_open_queue(step.queue) : Result<void>{}; !may) {
        return may.error();
    }
    step.paused ? jobs_.queues().pause(step.queue) : jobs_.queues().resume(step.queue);
    return Done{};
}

template <>
Result<LimitQueue::Reply> JobDomain::apply(LimitQueue& step) {
    if (auto may = may_open_queue(step.queue); !may) return may.error();
    jobs_.queues().limit(step.queue, step.limits);
    return Done{};
}

template <>
Result<ListQueues::Reply> JobDomain::apply(ListQueues& step) {
    return jobs_.reports().list(jobs_.queues(), step.page, scope_.now);
}

Outcome JobDomain::perform(QueueSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
