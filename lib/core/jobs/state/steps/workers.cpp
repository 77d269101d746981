#include "core/jobs/state/job_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<Heartbeat::Reply> JobDomain::apply(Heartbeat& step) {
    scope_.depends_on_row = 0;
    jobs_.profiles().note(step, scope_.now);
    return HeartbeatReply{jobs_.heartbeat(step.worker, scope_.now)};
}

template <>
Result<RetireWorker::Reply> JobDomain::apply(RetireWorker& step) {
    return jobs_.retire(step.worker, scope_.now);
}

template <>
Result<ScrubWorkers::Reply> JobDomain::apply(ScrubWorkers& step) {
    scope_.depends_on_row = 0;
    return jobs_.crashes().scrub(step.silence, scope_.now);
}

template <>
Result<ListWorkers::Reply> JobDomain::apply(ListWorkers& step) {
    return jobs_.profiles().list(step.page);
}

template <>
Result<FindQueueWorkers::Reply> JobDomain::apply(FindQueueWorkers& step) {
    return jobs_.profiles().of_queue(step.queue, step.handler, scope_.now);
}

Outcome JobDomain::perform(WorkerSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
