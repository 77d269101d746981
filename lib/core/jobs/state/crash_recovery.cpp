#include <algorithm>
#include <optional>
#include <utility>

#include "core/jobs/state/job_slice.hpp"
#include "core/jobs/state/job_table.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::detail {

// --- Dead workers ------------------------------------------------------------------------------

void CrashRecovery::spare_silent(Duration silence, TimePoint now) {
    const auto before = std::exchange(scrubbed_at_, now);
    const bool long_ago = before && now > *before && now - *before >= silence / 2;
    for (auto& [uid, worker] : jobs_.leases().workers()) {
        // If the clock was set back, the silence of a dead worker is measured from now.
        worker.seen = std::min(worker.seen, now);
        if (worker.assumed_seen != worker.seen) worker.assumed_seen = never;
        if (!long_ago || worker.assumed_seen != never) continue;
        if (saturating_add(worker.seen, silence) <= now) worker.seen = worker.assumed_seen = now;
    }
}

ReleasedJobs CrashRecovery::scrub(Duration silence, TimePoint now) {
    spare_silent(silence, now);
    JobSlice slice{released_max};
    bool more = false;
    auto& workers = jobs_.leases().workers();
    for (auto worker = workers.begin(); worker != workers.end();) {
        const auto dead = worker++;
        auto& state = dead->second;
        if (saturating_add(state.seen, silence) > now) continue;
        LeaseTable::release_all(state, slice, [&](JobState& job) {
            counters_.add({"jobs.scrubbed", {{"queue", job.queue.name}}}, 1);
            const BuriedJob perhaps{job.queue.name, job.order};
            if (job.counted && !job.cancelled()) job.detailed().add_error(unreported_error, now);
            const bool buried = jobs_.end_attempt(job, due_after_death(job, now), now);
            if (buried) died_last_.push_back(perhaps);
        });
        more = !state.jobs.empty();
        if (more) break;
        counters_.add({"workers.scrubbed", {}}, 1);
        workers.erase(dead);
    }
    settle_cut_off(now);
    return {.jobs = slice.jobs(),
            .more = more || !cut_off_.empty(),
            .buried = std::exchange(died_last_, {})};
}

// --- Jobs that must not run ----------------------------------------------------------------------

bool CrashRecovery::must_end(const JobState& job, TimePoint now) noexcept {
    if (job.details == nullptr) return false;
    const auto& details = *job.details;
    return details.cancelled || details.has_expired(now) || !details.has_attempts_left();
}

std::size_t CrashRecovery::end(JobState& job, TimePoint now) {
    auto& details = *job.details;
    if (details.cancelled) {
        jobs_.cancel(job, now);
        return 1;
    }
    if (details.has_expired(now)) {
        counters_.add({"jobs.expired", {{"queue", job.queue.name}}}, 1);
        jobs_.note(job.queue, &QueueCounts::expired, now);
        return 1 + jobs_.drop(job, JobRemoval::expired, now);
    }
    jobs_.load(job);
    JobPlaces::displace(job);
    details.add_error(unreported_error, now);
    details.cut_off = false;
    died_last_.push_back({job.queue.name, job.order});
    return 1 + jobs_.bury(job, now);
}

// --- Restored jobs whose process died -----------------------------------------------------------

void CrashRecovery::restore(const JobState& job) {
    const bool used_up = job.queue.has_ids && is_used_up(job);
    if (used_up || job.cut_off()) cut_off_.emplace_back(job.queue.name, job.order);
}

JobState* CrashRecovery::due_and_cut_off(const std::string& name, JobId id, TimePoint now) {
    const auto* queue = jobs_.queues().find(name);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(id);
    if (job == nullptr || job->waiting || job->run_at > now) return nullptr;
    const bool stands =
        job->state == JobState::State::scheduled || job->state == JobState::State::ready;
    const bool unsettled = job->cut_off() || is_used_up(*job);
    return stands && unsettled ? job : nullptr;
}

void CrashRecovery::settle_cut_off(TimePoint now) {
    JobSlice slice{released_max};
    for (auto left = released_max; left > 0 && !cut_off_.empty(); --left) {
        const auto& [name, id] = cut_off_.back();
        auto* job = due_and_cut_off(name, id, now);
        if (job != nullptr && !slice.take(*job)) return;
        cut_off_.pop_back();
        if (job == nullptr) continue;
        try {
            if (is_used_up(*job)) {
                end(*job, now);
                continue;
            }
            jobs_.load(*job);
            note_death(*job, now);
        } catch (const Failure&) {
            // The job cannot be read and is not changed. An acquisition from its queue reports the
            // error.
        }
    }
}

bool CrashRecovery::note_death(JobState& job, TimePoint now) {
    job.details->cut_off = false;
    job.details->add_error(unreported_error, now);
    jobs_.note(job.queue, &QueueCounts::failed, now);
    const auto run_at = due_after_death(job, now);
    if (run_at > now) {
        jobs_.reschedule(job, run_at, now);
    } else {
        changes_.changed(job);
    }
    return run_at > now;
}

// --- Jobs suspected of crashing their workers ----------------------------------------------------

TimePoint CrashRecovery::due_after_death(const JobState& job, TimePoint now) noexcept {
    const auto deaths = job.details == nullptr ? 0 : job.details->deaths();
    if (deaths < isolated_deaths) return now;
    const auto doubled = std::min(deaths - isolated_deaths, 6U);
    return saturating_add(now, std::min(death_wait_max, death_wait_first * (1 << doubled)));
}

bool CrashRecovery::must_wait(const JobState& job) const noexcept {
    return jobs_.leases().isolated() > 0 && job.needs_isolation();
}

/// Delays a job that needs isolation by 10 to 1000 ms. The delays differ, so when one such job has
/// ended, another begins soon. Delays are multiples of 10 ms to keep wake-ups rare.
void CrashRecovery::delay(JobState& job, TimePoint now) {
    constexpr std::int64_t step = 10;
    constexpr std::uint64_t steps = 100;
    const auto moment = static_cast<std::uint64_t>(to_milliseconds(now)) / step;
    const auto later = 1 + (job.order % steps * 37 + moment % steps) % steps;
    const Duration wait{step * static_cast<std::int64_t>(later)};
    jobs_.put_off(job, saturating_add(now, wait), now);
}

}  // namespace routemaster::detail
