#include <optional>
#include <utility>

#include "core/state/job_slice.hpp"
#include "core/state/jobs.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/error.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::detail {

// --- Workers that died --------------------------------------------------------------------------

void JobTable::spare_silent(Duration silence, TimePoint now) {
    const auto before = std::exchange(scrubbed_at_, now);
    const bool long_ago = before && now > *before && now - *before >= silence / 2;
    for (auto& [uid, worker] : leases_.workers()) {
        // When the clock was set back, the silence of the dead counts from now.
        worker.seen = std::min(worker.seen, now);
        if (worker.assumed_seen != worker.seen) worker.assumed_seen = never;
        if (!long_ago || worker.assumed_seen != never) continue;
        if (saturating_add(worker.seen, silence) <= now) worker.seen = worker.assumed_seen = now;
    }
}

ReleasedJobs JobTable::scrub(Duration silence, TimePoint now) {
    spare_silent(silence, now);
    JobSlice slice{released_max};
    bool more = false;
    auto& workers = leases_.workers();
    for (auto worker = workers.begin(); worker != workers.end();) {
        const auto dead = worker++;
        auto& state = dead->second;
        if (saturating_add(state.seen, silence) > now) continue;
        release_all(state, slice, [&](JobState& job) {
            counters_.add({"jobs.scrubbed", {{"queue", job.queue.name}}}, 1);
            if (job.counted && !job.cancelled()) job.detailed().add_error(unreported_error, now);
            if (end_attempt(job, now, now)) ++died_last_;
        });
        more = !state.jobs.empty();
        if (more) break;
        counters_.add({"workers.scrubbed", {}}, 1);
        workers.erase(dead);
    }
    settle_cut_off(now);
    return {.jobs = slice.jobs(),
            .more = more || !cut_off_.empty(),
            .buried = std::exchange(died_last_, 0)};
}

// --- Processes that died with the file that they had --------------------------------------------

JobState* JobTable::due_and_cut_off(const std::string& name, JobId id, TimePoint now) {
    const auto* queue = find_queue(name);
    auto* job = queue == nullptr ? nullptr : queue->by_id.find(id);
    if (job == nullptr || job->waiting || job->run_at > now) return nullptr;
    const bool stands =
        job->state == JobState::State::scheduled || job->state == JobState::State::ready;
    const bool unsettled = job->cut_off() || is_used_up(*job);
    return stands && unsettled ? job : nullptr;
}

void JobTable::settle_cut_off(TimePoint now) {
    JobSlice slice{released_max};
    for (auto left = released_max; left > 0 && !cut_off_.empty(); --left) {
        const auto& [name, id] = cut_off_.back();
        auto* job = due_and_cut_off(name, id, now);
        if (job != nullptr && !slice.take(*job)) return;
        cut_off_.pop_back();
        if (job == nullptr) continue;
        try {
            if (is_used_up(*job)) {
                end_unfit(*job, now);
                continue;
            }
            if (!job->payload.resident()) changes_.load(*job);
            note_death(*job, now);
        } catch (const Failure&) {
            // It cannot be read. Whoever acquires from its queue is told.
        }
    }
}

void JobTable::note_death(JobState& job, TimePoint now) {
    job.details->cut_off = false;
    job.details->add_error(unreported_error, now);
    note(job.queue, &QueueCounts::failed, now);
    changes_.changed(job);
}

// --- Jobs that perhaps ended their workers ------------------------------------------------------

bool JobTable::is_kept_apart(const JobState& job, const Worker& holder) const noexcept {
    const auto others = is_kept_ ? leases_.isolated() : holder.isolated;
    return others > 0 && job.needs_isolation();
}

}  // namespace routemaster::detail
