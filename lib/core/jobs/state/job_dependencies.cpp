#include "core/jobs/state/job_dependencies.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::detail {

namespace {

std::vector<JobId> present(const QueueState& queue, std::vector<JobId> jobs) {
    std::sort(jobs.begin(), jobs.end());
    jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
    std::erase_if(jobs, [&](JobId id) { return queue.by_id.find(id) == nullptr; });
    return jobs;
}

}  // namespace

Result<void> may_wait(const PushJob& step, const QueueState* queue, JobId last_id) {
    if (step.after.empty()) return {};
    const auto last = *std::max_element(step.after.begin(), step.after.end());
    if (last > last_id) {
        return Error{Errc::invalid, "after: no job has had the id " + std::to_string(last)};
    }
    if (queue == nullptr) return {};
    for (const auto id : present(*queue, step.after)) {
        if (queue->dependents.of(id) < job_dependents_max) continue;
        return Error{Errc::invalid, "after: " + std::to_string(job_dependents_max) +
                                        " jobs wait for job " + std::to_string(id) + " already"};
    }
    return {};
}

void wait_for(JobState& job, const std::vector<JobId>& others) {
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

void stop_waiting(JobState& job) {
    for (const auto id : job.details->after) job.queue.dependents.remove(id, job.order);
    job.details->after.clear();
    job.waiting = false;
}

}  // namespace routemaster::detail
