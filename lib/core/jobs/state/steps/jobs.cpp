#include "core/state/machine.hpp"

#include <algorithm>

#include "core/state/steps/apply_one_of.hpp"
#include "core/store/store_errors.hpp"

namespace routemaster::detail {

Result<void> Machine::may_open_queue(const std::string& name) {
    if (jobs_.lasting_queues() < limits_.queues_max) return {};
    const auto* queue = jobs_.find_queue(name);
    if (queue != nullptr && (queue->kept() || !queue->jobs.empty())) return {};
    return too_many_queues();
}

Error Machine::too_many_queues() const {
    return {Errc::limit_exceeded, "queue: there are " + std::to_string(limits_.queues_max) +
                                      " queues already, as many as queues_max allows"};
}

template <>
Result<PushJob::Reply> Machine::apply(PushJob& step) {
    const auto& key = step.idempotency_key;
    // With a time of 0, the key covers only repetitions of one call after a lost reply. In this
    // store, replies are never lost, so the key is ignored.
    const bool of_call = key.time == Duration{0};
    if (key.text.empty() || of_call) return push(step);
    auto& keys = jobs_.idempotency_keys();
    if (const auto* before = keys.find(step.queue, key.text, now_)) {
        depends_on_row_ = before->last_row;
        if (before->fingerprint != key.fingerprint) return other_push();
        return before->reply;
    }
    auto pushed = push(step);
    if (pushed) keys.keep(step.queue, key, *pushed, now_);
    return pushed;
}

Result<Pushed> Machine::push(const PushJob& step) {
    if (auto may = may_open_queue(step.queue); !may) return may.error();
    if (!step.options.key.text.empty()) return push_with_key(step);
    const auto hash = payload_hash(step.job);
    auto* queue = jobs_.find_queue(step.queue);
    if (queue != nullptr) JobTable::fetch(*queue, hash, step.options.group);
    if (const auto* present = queue == nullptr ? nullptr : jobs_.find(*queue, step.job, hash)) {
        depends_on_row_ = present->last_row;
        return Pushed{PushOutcome::duplicate, queue->has_ids ? present->order : 0};
    }
    if (!step.after.empty() || step.options.batch != 0) {
        if (auto may = jobs_.may_push(step); !may) return may.error();
    }
    return push_new(queue == nullptr ? jobs_.queue(step.queue) : *queue, step, hash);
}

Result<Pushed> Machine::push_with_key(const PushJob& step) {
    return jobs_.push_with_key(step, now_,
                               [this](const Entity& known) { depends_on_row_ = known.last_row; });
}

Pushed Machine::push_new(QueueState& queue, const PushJob& step, std::uint32_t hash) {
    if (queue.has_ids) {
        return {PushOutcome::pushed, jobs_.push(queue, step, hash, now_).order};
    }
    jobs_.push(queue, step.job, hash, step.run_at, jobs_.next_order(), nullptr, now_);
    return {};
}

template <>
Result<AcquireJobs::Reply> Machine::apply(AcquireJobs& step) {
    depends_on_row_ = 0;
    auto* queue = jobs_.find_queue(step.queue);
    if (queue == nullptr) {
        jobs_.heartbeat(step.worker, now_);
        return Acquired{};
    }
    auto acquired = jobs_.acquire(*queue, step, now_, [this](const JobState& job) {
        depend_on(job);
        if (job.in_order) depends_on_row_ = std::max(depends_on_row_, job.group()->skipped_row);
    });
    if (!acquired.leases.empty()) {
        depend_on(jobs_.reserved_fences());
        depend_on(jobs_.reserved_begun());
    }
    return acquired;
}

template <>
Result<AckJob::Reply> Machine::apply(AckJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    if (delivered_by(*job) != nullptr) {
        return invalid("lease: a delivery is ended by SettleDelivery");
    }
    jobs_.complete(*job, now_);
    return Settlement::settled;
}

template <>
Result<NackJob::Reply> Machine::apply(NackJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    const bool last = jobs_.release(*job, step.run_at, now_);
    return last ? Settlement::buried : Settlement::settled;
}

template <>
Result<ReleaseJob::Reply> Machine::apply(ReleaseJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    jobs_.release_uncounted(*job, step.run_at, now_);
    return Settlement::settled;
}

template <>
Result<FailJob::Reply> Machine::apply(FailJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    return jobs_.fail(*job, step, now_) ? Settlement::buried : Settlement::settled;
}

Outcome Machine::perform_in(JobSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
