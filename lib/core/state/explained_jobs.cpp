#include "core/state/jobs.hpp"

namespace routemaster::detail {

JobExplanation JobTable::explain(const JobState& job, TimePoint now) const {
    JobExplanation all{.status = status(job, now), .queue = count(job.queue, now)};
    if (job.worker != nullptr) {
        all.heard_at = job.worker->seen;
        if (!job.cancelled()) all.leased_at = job.worker->times.of(job.fence);
    }
    if (job.state != JobState::State::ready || job.eligible) return all;
    const auto& group = *job.group();
    all.concurrency = group.concurrency;
    for (const auto* first = group.jobs.front(); first != nullptr && first->eligible;
         first = group.jobs.next(*first)) {
        if (all.before.size() == explained_jobs_max) break;
        all.before.push_back(first->order);
    }
    return all;
}

}  // namespace routemaster::detail
