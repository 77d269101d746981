#include <algorithm>

#include "core/jobs/state/jobs.hpp"

namespace routemaster::detail {

Result<Pushed> JobTable::push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal) {
    const auto& key = step.options.key.text;
    const auto* present = find_queue(step.queue);
    if (auto* owner = present == nullptr ? nullptr : JobKeys::owner(*present, key, now)) {
        reveal(*owner);
        const bool waits =
            owner->state == JobState::State::scheduled || owner->state == JobState::State::ready;
        if (step.on_duplicate == OnDuplicate::keep || !waits) {
            return Pushed{PushOutcome::duplicate, owner->order};
        }
        const auto id = owner->order;
        if (step.options.batch != owner->batch()) {
            if (auto may = batches_.may_join(step.options.batch); !may) return may.error();
        }
        replace(*owner, step, now);
        return Pushed{PushOutcome::replaced, id};
    }
    if (const auto* kept = keys_.kept().find(step.queue, key, now)) {
        reveal(*kept);
        return Pushed{PushOutcome::duplicate, 0};
    }
    if (auto may = may_push(step); !may) return may.error();
    return add_with_key(step, now);
}

Pushed JobTable::add_with_key(const PushJob& step, TimePoint now) {
    auto& queue = this->queue(step.queue);
    const auto id = next_id();
    auto* group = group_of(queue, step.options.group);
    auto& job = make(queue, step.job, id_hash(id), step.run_at, id, group);
    job.take_options(step.options);
    batches_.join(step.options.batch);
    JobKeys::take(job);
    wait_for(job, step.after);
    queue.by_id.insert(job);
    place(job, now);
    changes_.changed(job);
    return {PushOutcome::pushed, id};
}

void JobTable::replace(JobState& job, const PushJob& step, TimePoint now) {
    const bool scheduled = job.state == JobState::State::scheduled;
    const bool puts_off = scheduled && step.on_duplicate == OnDuplicate::debounce;
    const auto run_at = puts_off ? std::max(step.run_at, job.run_at) : step.run_at;
    const auto& before = job.details->options;
    const bool regroups = step.options.group != (job.in_order ? job.group()->name : std::string{});
    const bool moves = scheduled || run_at > now || step.options.priority != before.priority ||
                       regroups || step.options.concurrency != job.concurrency();
    if (step.options.batch != before.batch) {
        leave_batch(job, JobFate::cancelled);
        batches_.join(step.options.batch);
    }
    // The payload is replaced, so the payload recorded in a journal is no longer valid.
    changes_.gone(job);
    if (moves) {
        JobPlaces::displace(job);
        job.state = JobState::State::scheduled;
        skip(job);
    }
    job.payload.replace(payloads_, step.job);
    auto& taken = regroups ? regroup(job, step) : job;
    taken.details->begin_anew();
    taken.take_options(step.options);
    if (regroups) JobKeys::take(taken);
    if (moves) {
        taken.run_at = run_at;
        place(taken, now);
    }
    changes_.changed(taken);
}

}  // namespace routemaster::detail
