#include "core/state/machine.hpp"

#include <algorithm>

namespace routemaster::detail {

Result<PushJob::Reply> Machine::apply(PushJob& step) {
    auto& queue = jobs_.queue(step.queue);
    const auto hash = payload_hash(step.job);
    if (const auto* present = jobs_.find(queue, step.job, hash)) {
        depends_on_row_ = present->last_row;
        return PushOutcome::duplicate;
    }
    jobs_.push(queue, step.job, hash, step.run_at, jobs_.next_order(), nullptr, now_);
    return PushOutcome::pushed;
}

Result<AcquireJobs::Reply> Machine::apply(AcquireJobs& step) {
    depends_on_row_ = 0;
    auto& queue = jobs_.queue(step.queue);
    return jobs_.acquire(queue, step, now_, [this](const JobState& job) {
        depend_on(job);
        if (job.group != nullptr)
            depends_on_row_ = std::max(depends_on_row_, job.group->skipped_row);
    });
}

Result<AckJob::Reply> Machine::apply(AckJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    if (delivered_by(*job) != nullptr) {
        return invalid("lease: a delivery is ended by SettleDelivery");
    }
    jobs_.remove(*job);
    return Settlement::settled;
}

Result<NackJob::Reply> Machine::apply(NackJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    jobs_.release(*job, step.run_at, now_);
    return Settlement::settled;
}

Result<Heartbeat::Reply> Machine::apply(Heartbeat& step) {
    depends_on_row_ = 0;
    jobs_.heartbeat(step.worker, now_);
    return Done{};
}

Result<RetireWorker::Reply> Machine::apply(RetireWorker& step) {
    return Count{jobs_.retire(step.worker, now_)};
}

Result<ScrubWorkers::Reply> Machine::apply(ScrubWorkers& step) {
    depends_on_row_ = 0;
    return Count{jobs_.scrub(step.silence, now_)};
}

Result<CountJobs::Reply> Machine::apply(CountJobs& step) {
    return JobTable::count(jobs_.queue(step.queue), now_);
}

}  // namespace routemaster::detail
