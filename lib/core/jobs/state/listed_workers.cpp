#include <string>
#include <utility>

#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {
namespace {

LeasedByWorker leased_by(const Worker& worker, const JobState& job) {
    auto lease = LeaseTable::lease_of(job);
    LeasedByWorker leased{.queue = std::move(lease.queue),
                          .id = lease.id,
                          .job = std::move(lease.job),
                          .attempt = lease.attempt,
                          .cancelled = job.cancelled()};
    if (job.queue.has_ids && !leased.cancelled) leased.since = worker.times.of(job.fence);
    return leased;
}

}  // namespace

std::vector<ListedWorker> JobTable::list_workers(const Page& page) const {
    std::vector<ListedWorker> all;
    const auto& workers = leases_.workers();
    for (auto at = workers.upper_bound(page.after); at != workers.end(); ++at) {
        if (all.size() == page.limit) break;
        const auto& [uid, worker] = *at;
        ListedWorker listed{.id = uid, .seen = worker.seen, .leased = worker.jobs.size()};
        if (worker.profile != nullptr) {
            listed.profile = *worker.profile;
            listed.busy = worker.busy;
        }
        for (const auto* job = worker.jobs.front(); job != nullptr; job = worker.jobs.next(*job)) {
            if (listed.jobs.size() == worker_jobs_max) break;
            listed.jobs.push_back(leased_by(worker, *job));
        }
        all.push_back(std::move(listed));
    }
    return all;
}

}  // namespace routemaster::detail
