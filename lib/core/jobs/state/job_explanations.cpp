#include <optional>

#include "core/codec/job_name.hpp"
#include "core/jobs/state/job_reports.hpp"

namespace routemaster::detail {

JobExplanation JobReports::explain(const JobState& job, TimePoint now) const {
    JobExplanation all{.status = status(job, now), .queue = count(job.queue, now), .now = now};
    all.workers = workers_.of_queue(job.queue.name, name_of_job(all.status.job), now);
    if (job.worker != nullptr) {
        all.heard_at = job.worker->seen;
        if (!job.cancelled()) all.leased_at = job.worker->times.of(job.fence);
    }
    if (job.state == JobState::State::ready && !job.eligible) name_those_before(job, all);
    for (const auto id : all.status.after) {
        const auto* other = job.queue.by_id.find(id);
        if (other != nullptr && other->state == JobState::State::buried) all.buried.push_back(id);
    }
    const auto* rates = job.queue.rates.get();
    if (rates == nullptr || all.status.state != JobStatus::State::ready || !all.before.empty()) {
        return all;
    }
    const auto if_later = [now](TimePoint at) {
        return at > now ? std::optional{at} : std::nullopt;
    };
    all.queue_limited_until = if_later(rates->next(now));
    if (job.in_order) all.group_limited_until = if_later(rates->next_of(job.group()->name, now));
    return all;
}

void JobReports::name_those_before(const JobState& job, JobExplanation& all) {
    const auto& group = *job.group();
    all.concurrency = group.concurrency;
    for (const auto* first = group.jobs.front(); first != nullptr && first->eligible;
         first = group.jobs.next(*first)) {
        if (all.before.size() == explained_jobs_max) break;
        all.before.push_back(first->order);
    }
}

}  // namespace routemaster::detail
