#include "core/jobs/state/job_places.hpp"

namespace routemaster::detail {

void JobPlaces::place(JobState& job, TimePoint now) {
    if (job.waiting) {
        job.state = JobState::State::scheduled;
        ++job.queue.waiting;
        return;
    }
    if (job.run_at <= now) {
        make_ready(job);
        return;
    }
    job.state = JobState::State::scheduled;
    job.queue.scheduled.insert(job);
    if (&job.queue.scheduled.first() != &job) return;
    wake_ups_.wake(job.queue);
    if (job.queue.of_deliveries) wake_ups_.wake_callbacks(job.queue);
}

void JobPlaces::displace(JobState& job) {
    if (job.waiting) {
        --job.queue.waiting;
    } else if (job.state == JobState::State::scheduled) {
        job.queue.scheduled.remove(job);
    } else if (job.state == JobState::State::buried) {
        job.queue.buried.remove(job);
    } else if (job.eligible) {
        withdraw(job);
    } else {
        --job.queue.blocked;
    }
}

void JobPlaces::make_ready(JobState& job) {
    job.state = JobState::State::ready;
    if (job.eligible) {
        offer(job);
    } else {
        ++job.queue.blocked;
    }
}

void JobPlaces::offer(JobState& job) {
    auto& queue = job.queue;
    auto* few = job.in_order ? job.group()->ready : nullptr;
    if (few == nullptr) {
        job.priority() == 0 ? queue.ready.push_back(job) : queue.ranked.insert(job);
        return wake_ups_.wake(queue);
    }
    few->push_back(job);
    ++queue.ready_for_few;
    wake_ups_.wake_callbacks(queue);
    if (job.group()->callback == nullptr) wake_ups_.wake(queue);
}

void JobPlaces::withdraw(JobState& job) {
    if (job.throttled) return job.queue.rates->remove(static_cast<GroupedJob&>(job));
    auto* few = job.in_order ? job.group()->ready : nullptr;
    if (few == nullptr) {
        return job.priority() == 0 ? job.queue.ready.remove(job) : job.queue.ranked.remove(job);
    }
    few->remove(job);
    --job.queue.ready_for_few;
}

JobState* JobPlaces::take_due(QueueState& queue, TimePoint now) {
    if (queue.scheduled.empty()) return nullptr;
    auto& job = queue.scheduled.first();
    if (job.run_at > now) return nullptr;
    queue.scheduled.remove(job);
    return &job;
}

}  // namespace routemaster::detail
