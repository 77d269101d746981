#include "core/jobs/state/job_table.hpp"

#include <string>
#include <vector>

#include "core/jobs/state/job_slice.hpp"

namespace routemaster::detail {

/// Counts an attempt. Recording it in a journal costs a commit. The first attempt is therefore
/// recorded only if a crash must not hide it: the job has a single attempt, can expire, releases
/// its key at its beginning, or may have begun before a restart.
void JobTable::begin_attempt(JobState& job) {
    bool recorded = job.maybe_begun;
    // Records of the attempt and of the whole job both contain `details`.
    if (recorded || job.details != nullptr) {
        auto& details = job.detailed();
        ++details.attempts;
        details.begun = true;
        const auto& options = details.options;
        const bool frees_key = options.key.scope == KeyScope::until_started;
        if (frees_key) JobKeys::release(job);
        recorded = recorded || details.attempts > 1 || options.attempts_max == 1 ||
                   options.expires_at != never || frees_key;
    }
    job.counted = true;
    if (recorded) changes_.attempted(job);
    reservations_.cover_begun(job.order);
}

bool JobTable::release(JobState& job, TimePoint run_at, TimePoint now) {
    if (is_last_attempt(job)) job.details->add_error(unreported_error, now);
    return end_attempt(job, run_at, now);
}

bool JobTable::is_last_attempt(JobState& job) {
    return job.counted && !job.cancelled() && !job.detailed().has_attempts_left();
}

bool JobTable::end_attempt(JobState& job, TimePoint run_at, TimePoint now) {
    const bool last = is_last_attempt(job);
    if (!job.cancelled()) note(job.queue, &QueueCounts::failed, now);
    if (!last) {
        put_back(job, run_at, now);
    } else {
        leases_.end(job);
        bury(job, now);
    }
    return last;
}

void JobTable::put_back(JobState& job, TimePoint run_at, TimePoint now) {
    if (job.cancelled()) return drop_cancelled(job, now);
    leases_.end(job);
    job.run_at = run_at;
    place(job, now);
    if (job.in_order) groups_.fit(*job.group());
    changes_.changed(job);
}

void JobTable::release_uncounted(JobState& job, TimePoint run_at, TimePoint now) {
    if (job.counted && job.details != nullptr) --job.details->attempts;
    put_back(job, run_at, now);
}

bool JobTable::fail(JobState& job, const FailJob& step, TimePoint now) {
    if (job.cancelled()) {
        drop_cancelled(job, now);
        return false;
    }
    auto& details = job.detailed();
    details.add_error(step.error, now);
    note(job.queue, &QueueCounts::failed, now);
    const bool too_long = details.failing_for(step.time_max, now);
    const bool last = step.bury || too_long || !details.has_attempts_left();
    if (!last) {
        put_back(job, step.run_at, now);
    } else {
        leases_.end(job);
        bury(job, now);
    }
    return last;
}

std::vector<std::uint64_t> JobTable::heartbeat(const Uid& uid, TimePoint now) {
    auto& worker = leases_.worker(uid);
    worker.seen = now;
    return LeaseTable::cancelled(worker);
}

ReleasedJobs JobTable::retire(const Uid& uid, TimePoint now) {
    const auto found = leases_.workers().find(uid);
    if (found == leases_.workers().end()) return {};
    JobSlice slice{released_max};
    LeaseTable::release_all(found->second, slice,
                            [&](JobState& job) { release_uncounted(job, now, now); });
    const bool more = !found->second.jobs.empty();
    if (!more) leases_.workers().erase(found);
    return {.jobs = slice.jobs(), .more = more};
}

}  // namespace routemaster::detail
