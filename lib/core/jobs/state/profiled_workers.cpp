#include <algorithm>
#include <string>
#include <string_view>

#include "core/jobs/state/jobs.hpp"
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

}  // namespace

void JobTable::note_profile(const Heartbeat& heartbeat, TimePoint now) {
    if (heartbeat.profile == nullptr) return;
    auto& worker = leases_.worker(heartbeat.worker);
    worker.profile = heartbeat.profile;
    worker.profiled_at = now;
    worker.busy = heartbeat.busy;
    worker.busy_since = heartbeat.busy_since;
    for (const auto& queue : heartbeat.profile->queues) served_.note(queue, now);
}

QueueWorkers JobTable::workers_of(std::string_view queue, std::string_view handler,
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

std::map<std::string, std::uint64_t, std::less<>> JobTable::workers_by_queue(TimePoint now) const {
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

}  // namespace routemaster::detail
