#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<Heartbeat::Reply> Machine::apply(Heartbeat& step) {
    depends_on_row_ = 0;
    jobs_.note_profile(step, now_);
    return HeartbeatReply{jobs_.heartbeat(step.worker, now_)};
}

template <>
Result<RetireWorker::Reply> Machine::apply(RetireWorker& step) {
    return jobs_.retire(step.worker, now_);
}

template <>
Result<ScrubWorkers::Reply> Machine::apply(ScrubWorkers& step) {
    depends_on_row_ = 0;
    return jobs_.scrub(step.silence, now_);
}

template <>
Result<ListWorkers::Reply> Machine::apply(ListWorkers& step) {
    return jobs_.list_workers(step.page);
}

template <>
Result<FindQueueWorkers::Reply> Machine::apply(FindQueueWorkers& step) {
    return jobs_.workers_of(step.queue, step.handler, now_);
}

Outcome Machine::perform_in(WorkerSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
