#include <cstddef>
#include <cstdint>
#include <string>

#include "core/codec/job_prefix.hpp"
#include "core/jobs/state/job_reports.hpp"
#include "routemaster/job.hpp"

namespace routemaster::detail {

JobStatus JobReports::status(const JobState& job, TimePoint now) const {
    using State = JobStatus::State;
    JobStatus status;
    status.id = job.order;
    switch (job.state) {
        case JobState::State::scheduled:
            status.state = job.waiting || job.run_at > now ? State::scheduled : State::ready;
            if (status.state == State::scheduled) status.run_at = job.run_at;
            break;
        case JobState::State::ready: status.state = State::ready; break;
        case JobState::State::pending: status.state = State::pending; break;
        case JobState::State::buried: status.state = State::buried; break;
    }
    status.job = job.payload.resident() ? std::string{job.payload.text()} : changes_.read(job);
    if (job.worker != nullptr) status.worker = job.worker->uid;
    status.attempts = job.attempts();
    status.options = job.options();
    if (job.details == nullptr) return status;
    status.errors = job.details->errors;
    status.cancelled = job.details->cancelled;
    status.buried_at = job.details->buried_at;
    status.failing_since = job.details->failing_since;
    status.after = job.details->after;
    return status;
}

JobPage JobReports::list(const QueueState& queue, const ListJobs& step, TimePoint now) const {
    const auto prefix = step.name.empty() ? std::string{} : job_prefix(step.name);
    const auto matches = [&](const JobState& job) {
        if (!step.group.empty() && (!job.in_order || job.group()->name != step.group)) return false;
        if (prefix.empty()) return true;
        return job.payload.resident() ? job.payload.text().starts_with(prefix)
                                      : changes_.read(job).starts_with(prefix);
    };
    const auto is_wanted = [&](const JobState& job) {
        using State = JobStatus::State;
        switch (job.state) {
            case JobState::State::scheduled:
                return step.state ==
                       (job.waiting || job.run_at > now ? State::scheduled : State::ready);
            case JobState::State::ready: return step.state == State::ready;
            case JobState::State::pending: return step.state == State::pending;
            case JobState::State::buried: return step.state == State::buried;
        }
        return false;
    };
    const auto& index = step.state == JobStatus::State::buried ? queue.buried.by_id() : queue.by_id;
    JobPage page;
    std::uint32_t looked_at = 0;
    std::size_t bytes = 0;
    JobId last = step.after;
    index.after(step.after, [&](const JobState& job) {
        // Unwanted jobs are skipped without being read from the journal.
        const auto more = is_wanted(job) ? job.size_with_errors() : 0;
        const bool full = bytes > 0 && bytes + more > job_slice_bytes_max;
        if (page.jobs.size() == step.limit || looked_at == jobs_looked_at_max || full) {
            page.next = last;
            return false;
        }
        ++looked_at;
        last = job.order;
        bytes += more;
        if (more > 0 && matches(job)) page.jobs.push_back(status(job, now));
        return true;
    });
    return page;
}

QueueStatus JobReports::count(const QueueState& queue, TimePoint now) {
    const std::uint64_t due = queue.scheduled.count_due(now);
    const auto throttled = queue.rates == nullptr ? 0 : queue.rates->throttled();
    const auto ready =
        queue.ready.size() + queue.ranked.size() + queue.ready_for_few + queue.blocked + throttled;
    return {.scheduled = queue.scheduled.size() - due + queue.waiting,
            .ready = ready + due,
            .pending = queue.pending,
            .buried = queue.buried.size(),
            .paused = queue.paused};
}

}  // namespace routemaster::detail
