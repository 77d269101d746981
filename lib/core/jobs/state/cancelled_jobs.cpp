#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {

Cancellation JobTable::cancel(JobState& job, TimePoint now) {
    if (job.state != JobState::State::pending) {
        drop_cancelled(job, now);
        return Cancellation::cancelled;
    }
    if (!job.cancelled()) {
        job.detailed().cancelled = true;
        ++job.worker->cancelled;
        changes_.changed(job);
    }
    return Cancellation::requested;
}

void JobTable::drop_cancelled(JobState& job, TimePoint now) {
    counters_.add({"jobs.cancelled", {{"queue", job.queue.name}}}, 1);
    drop(job, JobFate::cancelled, now);
}

std::vector<std::uint64_t> JobTable::heartbeat(const Uid& uid, TimePoint now) {
    auto& worker = leases_.worker(uid);
    worker.seen = now;
    return LeaseTable::cancelled(worker);
}

}  // namespace routemaster::detail
