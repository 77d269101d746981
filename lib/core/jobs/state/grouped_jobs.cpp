#include <string>
#include <utility>

#include "core/jobs/state/jobs.hpp"
#include "routemaster/subscription.hpp"

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

JobState& JobTable::regroup(JobState& job, const PushJob& step) {
    auto& queue = job.queue;
    auto* group = group_of(queue, step.options.group);
    auto& other = make(queue, step.job, job.payload.hash(), job.run_at, job.order, group);
    other.maybe_begun = job.maybe_begun;
    other.waiting = job.waiting;
    other.awaited = job.awaited;
    JobKeys::release(job);
    queue.by_id.remove(job);
    other.details = std::move(job.details);
    queue.by_id.insert(other);
    end(job);
    return other;
}

}  // namespace routemaster::detail
