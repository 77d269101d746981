#include "core/jobs/state/job_table.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/jobs/state/job_dependencies.hpp"
#include "routemaster/counter.hpp"

namespace routemaster::detail {

void JobTable::remove(JobState& job) {
    if (job.in_order && job.queue.has_ids) changes_.skipped(*job.group());
    take_away(job);
}

void JobTable::take_away(JobState& job) {
    changes_.gone(job);
    if (job.state == JobState::State::pending) {
        leases_.end(job);
    } else {
        JobPlaces::displace(job);
    }
    if (job.waiting) stop_waiting(job);
    if (job.in_order) groups_.leave(grouped(job));
    JobKeys::release(job);
    if (job.queue.has_ids) job.queue.by_id.remove(job);
    end(job);
}

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

std::size_t JobTable::drop(JobState& job, JobRemoval removal, TimePoint now) {
    auto& queue = job.queue;
    leave_batch(job, removal);
    const auto id = job.awaited ? job.order : 0;
    remove(job);
    return id == 0 ? 0 : bury_dependents(queue, id, removal, now);
}

/// Buries the dependents of a removed job. Does not enforce the limit of BURIED jobs: a job dropped
/// for the limit may itself have dependents, and so on without a bound.
std::size_t JobTable::bury_dependents(QueueState& queue, JobId gone, JobRemoval removal,
                                      TimePoint now) {
    const auto error =
        "job " + std::to_string(gone) + ", which it waited for, " + std::string{text_of(removal)};
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

Cancellation JobTable::cancel(JobState& job, TimePoint now) {
    if (job.state != JobState::State::pending) {
        drop_cancelled(job, now);
        return Cancellation::cancelled;
    }
    if (!job.cancelled()) {
        job.detailed().cancelled = true;
        ++job.worker->cancelled;
        changes_.changed(job);
    }
    return Cancellation::requested;
}

void JobTable::drop_cancelled(JobState& job, TimePoint now) {
    counters_.add({"jobs.cancelled", {{"queue", job.queue.name}}}, 1);
    drop(job, JobRemoval::cancelled, now);
}

std::size_t JobTable::bury(JobState& job, TimePoint now) {
    auto& queue = job.queue;
    skip(job);
    job.detailed().buried_at = now;
    queue.buried.add(job);
    batches_.end(job.batch(), &JobBatchProgress::buried);
    note(queue, &QueueCounts::buried, now);
    changes_.changed(job);
    // Removes at most two jobs: the oldest, and another to make up for a dependent buried by the
    // first removal.
    std::size_t others = 0;
    for (int n = 0; n < 2 && queue.buried.size() > buried_max; ++n) {
        counters_.add({"jobs.forgotten", {{"queue", queue.name}}}, 1);
        others += drop(*queue.buried.first(), JobRemoval::forgotten, now);
    }
    return others;
}

void JobTable::leave_batch(const JobState& job, JobRemoval removal) {
    const auto id = job.batch();
    if (id == 0) return;
    if (job.state == JobState::State::buried) batches_.exhume(id);
    switch (removal) {
        case JobRemoval::deleted:
        case JobRemoval::cancelled: return batches_.end(id, &JobBatchProgress::cancelled);
        case JobRemoval::expired: return batches_.end(id, &JobBatchProgress::expired);
        case JobRemoval::forgotten: return batches_.end(id, &JobBatchProgress::forgotten);
    }
}

void JobTable::settle_batches(TimePoint now) {
    if (!batches_.has_touched()) return;
    batches_.settle(now, [&](const PushJob& push) {
        // The callback job belongs to no batch. If another job has its key, that job loses the key.
        return add_with_key(push, now).id;
    });
}

}  // namespace routemaster::detail
