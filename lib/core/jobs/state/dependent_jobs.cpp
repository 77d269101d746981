#include <algorithm>
#include <string>
#include <utility>

#include "core/jobs/state/jobs.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

// --- Dependents ----------------------------------------------------------------------------------

std::vector<JobId> JobTable::present(const QueueState& queue, std::vector<JobId> jobs) {
    std::sort(jobs.begin(), jobs.end());
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    std::erase_if(jobs, [&](JobId id) { return queue.by_id.find(id) == nullptr; });
    return jobs;
}

Result<void> JobTable::may_wait(const PushJob& step) const {
    if (step.after.empty()) return {};
    const auto last = *std::max_element(step.after.begin(), step.after.end());
    if (last > last_id_.last) {
        return Error{Errc::invalid, "after: no job has had the id " + std::to_string(last)};
    }
    const auto found = queues_.find(step.queue);
    if (found == queues_.end()) return {};
    for (const auto id : present(found->second, step.after)) {
        if (found->second.dependents.of(id) < job_dependents_max) continue;
        return Error{Errc::invalid, "after: " + std::to_string(job_dependents_max) +
                                        " jobs wait for job " + std::to_string(id) + " already"};
    }
    return {};
}

void JobTable::wait_for(JobState& job, const std::vector<JobId>& others) {
    if (others.empty()) return;
    auto& queue = job.queue;
    auto there = present(queue, others);
    job.waiting = !there.empty();
    for (const auto id : there) {
        queue.dependents.add(id, job.order);
        queue.by_id.find(id)->awaited = true;
    }
    if (job.waiting || job.details != nullptr) job.detailed().after = std::move(there);
}

void JobTable::stop_waiting(JobState& job) {
    for (const auto id : job.details->after) job.queue.dependents.remove(id, job.order);
    job.details->after.clear();
    job.waiting = false;
}

// --- Awaited jobs --------------------------------------------------------------------------------

void JobTable::complete(JobState& job, TimePoint now) {
    keys_.done(job, now);
    batches_.end(job.batch(), &JobBatchProgress::succeeded);
    note(job.queue, &QueueCounts::done, now);
    auto& queue = job.queue;
    const auto id = job.awaited ? job.order : 0;
    take_away(job);
    if (id != 0) release_dependents(queue, id, now);
}

void JobTable::release_dependents(QueueState& queue, JobId done, TimePoint now) {
    for (const auto id : queue.dependents.take(done)) {
        auto& job = *queue.by_id.find(id);
        auto& after = job.details->after;
        std::erase(after, done);
        if (after.empty()) {
            JobPlaces::displace(job);
            job.waiting = false;
            job.run_at = std::max(job.run_at, now);
            if (job.run_at <= now && enter_group(job)) changes_.attempted(job);
            places_.place(job, now);
        }
        changes_.waits(job);
    }
}

std::size_t JobTable::drop(JobState& job, JobFate fate, TimePoint now) {
    auto& queue = job.queue;
    leave_batch(job, fate);
    const auto id = job.awaited ? job.order : 0;
    remove(job);
    return id == 0 ? 0 : bury_dependents(queue, id, fate, now);
}

/// Buries the dependents of a removed job. Does not enforce the limit of BURIED jobs: a job dropped
/// for the limit may itself have dependents, and so on without a bound.
std::size_t JobTable::bury_dependents(QueueState& queue, JobId gone, JobFate fate, TimePoint now) {
    const auto error =
        "job " + std::to_string(gone) + ", which it waited for, " + std::string{text_of(fate)};
    const auto waiting = queue.dependents.take(gone);
    for (const auto id : waiting) {
        auto& job = *queue.by_id.find(id);
        JobPlaces::displace(job);
        stop_waiting(job);
        job.details->add_error(error, now);
        job.details->buried_at = now;
        queue.buried.add(job);
        batches_.end(job.batch(), &JobBatchProgress::buried);
        note(queue, &QueueCounts::buried, now);
        changes_.waits(job);
    }
    return waiting.size();
}

}  // namespace routemaster::detail
