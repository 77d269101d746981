#include "core/jobs/state/job_table.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/jobs/state/job_dependencies.hpp"

namespace routemaster::detail {

std::uint64_t JobTable::next_id() {
    ++last_id_.last;
    changes_.counted(last_id_);
    if (last_id_.last == 1) reservations_.record_begun();
    return last_id_.last;
}

JobState& JobTable::push(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group,
                         TimePoint now) {
    auto& state = make(queue, job, hash, run_at, order, group);
    if (group != nullptr) OrderingGroups::join(grouped(state));
    if (queue.has_ids) queue.by_id.insert(state);
    places_.place(state, now);
    changes_.changed(state);
    return state;
}

JobState& JobTable::push(QueueState& queue, const PushJob& step, std::uint32_t hash,
                         TimePoint now) {
    auto* group = group_of(queue, step.options.group);
    auto& state = make(queue, step.job, hash, step.run_at, next_id(), group);
    state.take_options(step.options);
    batches_.join(step.options.batch);
    wait_for(state, step.after);
    queue.by_id.insert(state);
    place(state, now);
    changes_.changed(state);
    return state;
}

Result<void> JobTable::may_push(const PushJob& step) const {
    if (auto may = may_wait(step, queues_.find(step.queue), last_id_.last); !may) return may;
    return batches_.may_join(step.options.batch);
}

Result<Pushed> JobTable::push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal) {
    const auto& key = step.options.key.text;
    const auto* present = queues_.find(step.queue);
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
    auto& queue = queues_.open(step.queue);
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
        leave_batch(job, JobRemoval::cancelled);
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
