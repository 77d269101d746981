#include "core/jobs/state/leases.hpp"

#include <string>
#include <utility>

namespace routemaster::detail {

JobState* LeaseTable::find(const Lease& lease) const {
    auto* job = leased_.find(mark(lease.fence),
                             [&](const JobState& any) { return any.fence == lease.fence; });
    if (job == nullptr || job->worker->uid != lease.worker) return nullptr;
    // Jobs with ids may have equal payloads.
    if (lease.id != 0 && lease.id != job->order) return nullptr;
    return job->payload.text() == lease.job && job->queue.name == lease.queue ? job : nullptr;
}

void LeaseTable::grant(JobState& job, Worker& holder, std::uint64_t fence) {
    job.state = JobState::State::pending;
    job.worker = &holder;
    job.fence = fence;
    ++job.queue.pending;
    // A reinstated lease may have a smaller fence than the worker's last lease, so its position in
    // the list must be searched for.
    auto* before = holder.jobs.back();
    while (before != nullptr && before->fence > fence) before = holder.jobs.previous(*before);
    holder.jobs.insert_after(before, job);
    leased_.insert(mark(fence), job);
    if (job.cancelled()) ++holder.cancelled;
    if (job.needs_isolation()) {
        job.details->isolated = true;
        ++isolated_;
    }
}

void LeaseTable::note_time(Worker& holder, std::uint64_t fence, TimePoint now) {
    if (holder.times.crowded(holder.jobs.size())) {
        holder.times.keep([&](auto need) {
            for (auto* job = holder.jobs.front(); job != nullptr; job = holder.jobs.next(*job)) {
                need(job->fence);
            }
        });
    }
    holder.times.note(fence, now);
}

void LeaseTable::end(JobState& job) {
    changes_.lease_ended(job);
    --job.queue.pending;
    leased_.remove(mark(job.fence), job);
    job.worker->jobs.remove(job);
    if (job.cancelled()) --job.worker->cancelled;
    if (job.details != nullptr && std::exchange(job.details->isolated, false)) --isolated_;
    job.worker = nullptr;
    job.counted = false;
    job.fence = 0;
}

std::vector<std::uint64_t> LeaseTable::cancelled(const Worker& worker) {
    std::vector<std::uint64_t> fences;
    if (worker.cancelled == 0) return fences;
    for (auto* job = worker.jobs.front(); job != nullptr; job = worker.jobs.next(*job)) {
        if (job->cancelled()) fences.push_back(job->fence);
    }
    return fences;
}

JobState* LeaseTable::first_beyond(const Worker& worker, std::uint64_t known) {
    JobState* first = nullptr;
    for (auto* job = worker.jobs.back(); job != nullptr && job->fence > known;
         job = worker.jobs.previous(*job)) {
        first = job;
    }
    return first;
}

void LeaseTable::describe(const JobState& job, Lease& lease) {
    lease.queue = job.queue.name;
    lease.job = std::string{job.payload.text()};
    lease.worker = job.worker->uid;
    lease.fence = job.fence;
    lease.id = job.queue.has_ids ? job.order : 0;
    lease.attempt = job.attempts();
    if (job.details == nullptr) return;
    const auto& options = job.details->options;
    lease.options = AttemptOptions{
        .timeout = options.timeout,
        .metadata = options.metadata,
        .batch = options.batch,
    };
}

Lease LeaseTable::lease_of(const JobState& job) {
    Lease lease;
    describe(job, lease);
    return lease;
}

std::vector<Lease> LeaseTable::all() const {
    std::vector<Lease> all;
    for (const auto& [uid, worker] : workers_) {
        for (auto* job = worker.jobs.front(); job != nullptr; job = worker.jobs.next(*job)) {
            all.push_back(lease_of(*job));
        }
    }
    return all;
}

void LeaseTable::release_all(Worker& worker, JobSlice& slice,
                             const std::function<void(JobState&)>& release) {
    while (auto* job = worker.jobs.front()) {
        if (!slice.take(*job)) return;
        release(*job);
    }
}

}  // namespace routemaster::detail
