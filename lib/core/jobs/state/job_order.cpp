#include "core/jobs/state/job_table.hpp"

#include <string>
#include <vector>

#include "core/jobs/state/job_slice.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

OrderingGroup* JobTable::group_of(QueueState& queue, const std::string& name) {
    return name.empty() ? nullptr : &queue.groups.open(name);
}

bool JobTable::enter_group(JobState& job) {
    if (!job.in_order || grouped(job).position != 0) return false;
    groups_.enter(grouped(job));
    return true;
}

void JobTable::skip(JobState& job) {
    if (!job.in_order) return;
    changes_.skipped(*job.group());
    groups_.leave(grouped(job));
}

void JobTable::place(JobState& job, TimePoint now) {
    if (!job.waiting && job.run_at <= now) enter_group(job);
    places_.place(job, now);
}

void JobTable::promote(QueueState& queue, TimePoint now) {
    if (queue.rates != nullptr) begin_limited(queue, now);
    if (queue.of_deliveries) hasten(queue, now);
    for (int n = 0; n < JobPlaces::promoted_max; ++n) {
        auto* job = JobPlaces::take_due(queue, now);
        if (job == nullptr) return;
        if (enter_group(*job)) changes_.attempted(*job);
        places_.make_ready(*job);
    }
}

void JobTable::hasten(QueueState& queue, TimePoint now) {
    const auto latest = saturating_add(now, delivery_wait_max);
    auto& scheduled = queue.scheduled;
    for (int n = 0; n < JobPlaces::promoted_max && !scheduled.empty(); ++n) {
        auto& job = scheduled.last();
        if (job.run_at <= latest || !job.in_order) return;
        reschedule(job, now, now);
    }
}

void JobTable::begin_limited(QueueState& queue, TimePoint now) {
    queue.rates->begin(now);
    for (auto* job : queue.rates->take_back(JobPlaces::promoted_max)) {
        job->run_at = now;
        places_.make_ready(*job);
    }
    if (queue.rates->over()) queue.rates.reset();
}

void JobTable::reschedule(JobState& job, TimePoint run_at, TimePoint now) {
    ROUTEMASTER_ASSERT(job.state != JobState::State::pending);
    JobPlaces::displace(job);
    job.run_at = run_at;
    places_.place(job, now);
    changes_.changed(job);
}

void JobTable::put_off(JobState& job, TimePoint run_at, TimePoint now) {
    JobPlaces::displace(job);
    job.run_at = run_at;
    places_.place(job, now);
    changes_.waits(job);
}

std::uint64_t JobTable::kick(QueueState& queue, const KickJobs& step, TimePoint now) {
    auto* const named = step.id ? queue.by_id.find(*step.id) : nullptr;
    if (named != nullptr && named->state == JobState::State::scheduled) {
        if (named->waiting || named->run_at <= now) return 0;
        load(*named);
        JobPlaces::displace(*named);
        named->run_at = now;
        place(*named, now);
        changes_.changed(*named);
        return 1;
    }
    std::uint64_t kicked = 0;
    const auto kick = [&](JobState& job) {
        queue.buried.remove(job);
        batches_.exhume(job.batch());
        auto& details = *job.details;
        details.buried_at.reset();
        details.failing_since.reset();
        details.attempts = 0;
        details.options.expires_at = never;
        job.run_at = now;
        place(job, now);
        changes_.changed(job);
        ++kicked;
    };
    const auto next = [&] {
        return step.id ? queue.buried.by_id().find(*step.id) : queue.buried.first();
    };
    JobSlice slice{step.limit};
    for (auto* job = next(); job != nullptr && slice.take(*job); job = next()) {
        try {
            load(*job);
        } catch (const Failure&) {
            if (kicked == 0) throw;
            break;
        }
        kick(*job);
    }
    return kicked;
}

}  // namespace routemaster::detail
