#include "core/jobs/state/worker_profiles.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "core/store/queue_workers.hpp"
#include "routemaster/store/step/workers.hpp"

namespace routemaster::detail {

namespace {

bool is_alive(const Worker& worker, TimePoint now) {
    return worker.profile == nullptr
               ? saturating_add(worker.seen, unprofiled_silence) > now
               : saturating_add(worker.profiled_at, worker.profile->silence) > now;
}

bool serves(const Worker& worker, std::string_view queue) {
    const auto& queues = worker.profile->queues;
    return std::find(queues.begin(), queues.end(), queue) != queues.end();
}

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

void WorkerProfiles::note(const Heartbeat& heartbeat, TimePoint now) {
    if (heartbeat.profile == nullptr) return;
    auto& worker = leases_.worker(heartbeat.worker);
    worker.profile = heartbeat.profile;
    worker.profiled_at = now;
    worker.busy = heartbeat.busy;
    worker.busy_since = heartbeat.busy_since;
    for (const auto& queue : heartbeat.profile->queues) served_.note(queue, now);
}

QueueWorkers WorkerProfiles::of_queue(std::string_view queue, std::string_view handler,
                                      TimePoint now) const {
    QueueWorkers all{.last_at = served_.last(queue)};
    std::uint32_t read = 0;
    for (const auto& [uid, worker] : leases_.workers()) {
        if (!is_alive(worker, now)) continue;
        if (worker.profile == nullptr) {
            ++all.unprofiled;
        } else if (serves(worker, queue) && ++read <= profiles_read_max) {
            count_worker(all, *worker.profile, worker.busy, worker.busy_since, handler);
        }
    }
    if (read > profiles_read_max) {
        all.workers += read - profiles_read_max;
        all.handling += read - profiles_read_max;
    }
    return all;
}

std::map<std::string, std::uint64_t, std::less<>> WorkerProfiles::count_by_queue(
    TimePoint now) const {
    std::map<std::string, std::uint64_t, std::less<>> counts;
    for (const auto& [uid, worker] : leases_.workers()) {
        if (!is_alive(worker, now)) continue;
        if (worker.profile == nullptr) {
            ++counts[""];
        } else {
            for (const auto& queue : worker.profile->queues) ++counts[queue];
        }
    }
    return counts;
}

std::vector<ListedWorker> WorkerProfiles::list(const Page& page) const {
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
