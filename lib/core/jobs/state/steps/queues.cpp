#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<PauseQueue::Reply> Machine::apply(PauseQueue& step) {
    if (auto may = step.paused ? may_open_queue(step.queue) : Result<void>{}; !may) {
        return may.error();
    }
    step.paused ? jobs_.pause(step.queue) : jobs_.resume(step.queue);
    return Done{};
}

template <>
Result<LimitQueue::Reply> Machine::apply(LimitQueue& step) {
    if (auto may = may_open_queue(step.queue); !may) return may.error();
    jobs_.limit(step.queue, step.limits);
    return Done{};
}

template <>
Result<ListQueues::Reply> Machine::apply(ListQueues& step) {
    return jobs_.list_queues(step.page, now_);
}

Outcome Machine::perform_in(QueueSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
