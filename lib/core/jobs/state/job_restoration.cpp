#include "core/jobs/state/job_table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/jobs/state/job_dependencies.hpp"

namespace routemaster::detail {

JobState& JobTable::restore(QueueState& queue, std::string_view job, std::uint32_t hash,
                            TimePoint run_at, std::uint64_t order, OrderingGroup* group) {
    auto& state = make(queue, job, hash, run_at, order, group);
    queue.ready.push_back(state);
    return state;
}

void JobTable::unrestore(JobState& job) {
    job.queue.ready.remove(job);
    end(job);
}

void JobTable::settle_restored() {
    reservations_.settle_restored(last_id_.last);
    std::vector<GroupedJob*> ordered;
    for (auto& [name, queue] : queues_.all()) {
        std::vector<JobState*> all;
        std::vector<JobState*> buried;
        all.reserve(queue.ready.size());
        while (auto* job = queue.ready.front()) {
            queue.ready.remove(*job);
            if (queue.has_ids) queue.by_id.insert(*job);
            job->maybe_begun = job->order <= reservations_.begun().last;
            JobKeys::restore(*job);
            const bool is_buried = job->details != nullptr && job->details->buried_at;
            (is_buried ? buried : all).push_back(job);
            // A job with an id joins its group only when first due. A position other than 0 proves
            // that the job has joined.
            const bool joined = job->in_order && (!queue.has_ids || grouped(*job).position != 0);
            if (joined) ordered.push_back(&grouped(*job));
        }
        std::erase_if(all, [](JobState* job) {
            if (job->details == nullptr || job->details->after.empty()) return false;
            wait_for(*job, std::vector<JobId>{job->details->after});
            if (job->waiting) ++job->queue.waiting;
            return bool{job->waiting};
        });
        for (const auto* job : all) crashes_.restore(*job);
        queue.scheduled.restore(std::move(all));
        std::sort(buried.begin(), buried.end(), [](const JobState* a, const JobState* b) {
            return std::pair{*a->details->buried_at, a->order} <
                   std::pair{*b->details->buried_at, b->order};
        });
        for (auto* job : buried) queue.buried.add(*job);
    }
    std::sort(ordered.begin(), ordered.end(), [](const GroupedJob* a, const GroupedJob* b) {
        return std::pair{a->position, a->order} < std::pair{b->position, b->order};
    });
    for (auto* job : ordered) {
        job->queue.has_ids ? groups_.enter(*job) : OrderingGroups::join(*job);
    }
    leases_.skip_fences(reservations_.fences().last);
    keys_.kept().settle_restored();
    idempotency_keys_.settle_restored();
    batches_.settle_restored();
    queues_.settle_restored();
}

void JobTable::reinstate(const Lease& lease, TimePoint seen) {
    const auto* queue = queues_.find(lease.queue);
    if (queue == nullptr) return;
    auto* job = lease.id != 0 ? queue->by_id.find(lease.id) : find(*queue, lease.job);
    if (job == nullptr || job->state == JobState::State::pending) return;
    if (job->state == JobState::State::buried || job->waiting) return;
    load(*job);
    JobPlaces::displace(*job);
    auto& holder = leases_.worker(lease.worker);
    holder.seen = seen;
    if (queue->has_ids) {
        auto& details = job->detailed();
        details.attempts = std::max({details.attempts, lease.attempt, 1U});
        details.cut_off = false;
        job->counted = true;
    }
    // The original grant time is not stored. The last sign of life replaces it.
    if (holder.times.empty()) LeaseTable::note_time(holder, 0, seen);
    leases_.grant(*job, holder, lease.fence);
}

}  // namespace routemaster::detail
