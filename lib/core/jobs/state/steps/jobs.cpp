#include "core/jobs/state/acquisition.hpp"
#include "core/jobs/state/job_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <algorithm>

#include "core/store/store_errors.hpp"

namespace routemaster::detail {

Result<void> JobDomain::may_open_queue(const std::string& name) {
    if (jobs_.queues().lasting() < limits_.queues_max) return {};
    const auto* queue = jobs_.queues().find(name);
    if (queue != nullptr && (queue->kept() || !queue->jobs.empty())) return {};
    return too_many_queues();
}

Error JobDomain::too_many_queues() const {
    return {Errc::limit_exceeded, "queue: there are " + std::to_string(limits_.queues_max) +
                                      " queues already, as many as queues_max allows"};
}

template <>
Result<PushJob::Reply> JobDomain::apply(PushJob& step) {
    return push(step);
}

Result<Pushed> JobDomain::push(const PushJob& step) {
    const auto& key = step.idempotency_key;
    // With a time of 0, the key covers only repetitions of one call whose reply was lost. In this
    // store, replies are never lost, so the key is ignored.
    const bool of_call = key.time == Duration{0};
    if (key.text.empty() || of_call) return push_once(step);
    auto& keys = jobs_.idempotency_keys();
    if (const auto* before = keys.find(step.queue, key.text, scope_.now)) {
        scope_.depends_on_row = before->last_row;
        if (before->fingerprint != key.fingerprint) return other_push();
        return before->reply;
    }
    auto pushed = push_once(step);
    if (pushed) keys.keep(step.queue, key, *pushed, scope_.now);
    return pushed;
}

Result<Pushed> JobDomain::push_once(const PushJob& step) {
    if (auto may = may_open_queue(step.queue); !may) return may.error();
    if (!step.options.key.text.empty()) return push_with_key(step);
    const auto hash = payload_hash(step.job);
    auto* queue = jobs_.queues().find(step.queue);
    if (queue != nullptr) JobTable::fetch(*queue, hash, step.options.group);
    if (const auto* present = queue == nullptr ? nullptr : jobs_.find(*queue, step.job, hash)) {
        scope_.depends_on_row = present->last_row;
        return Pushed{PushOutcome::duplicate, queue->has_ids ? present->order : 0};
    }
    if (!step.after.empty() || step.options.batch != 0) {
        if (auto may = jobs_.may_push(step); !may) return may.error();
    }
    return push_new(queue == nullptr ? jobs_.queues().open(step.queue) : *queue, step, hash);
}

Result<Pushed> JobDomain::push_with_key(const PushJob& step) {
    return jobs_.push_with_key(
        step, scope_.now, [this](const Entity& known) { scope_.depends_on_row = known.last_row; });
}

Pushed JobDomain::push_new(QueueState& queue, const PushJob& step, std::uint32_t hash) {
    if (queue.has_ids) {
        return {PushOutcome::pushed, jobs_.push(queue, step, hash, scope_.now).order};
    }
    jobs_.push(queue, step.job, hash, step.run_at, jobs_.next_order(), nullptr, scope_.now);
    return {};
}

template <>
Result<AcquireJobs::Reply> JobDomain::apply(AcquireJobs& step) {
    scope_.depends_on_row = 0;
    auto* queue = jobs_.queues().find(step.queue);
    if (queue == nullptr) {
        jobs_.heartbeat(step.worker, scope_.now);
        return Acquired{};
    }
    const auto reveal = [this](const JobState& job) {
        scope_.depend_on(job);
        if (!job.in_order) return;
        scope_.depends_on_row = std::max(scope_.depends_on_row, job.group()->skipped_row);
    };
    auto acquired = Acquisition{jobs_, *queue, step, scope_.now, reveal}.run();
    if (!acquired.leases.empty()) {
        scope_.depend_on(jobs_.reservations().fences());
        scope_.depend_on(jobs_.reservations().begun());
    }
    return acquired;
}

template <>
Result<AckJob::Reply> JobDomain::apply(AckJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    if (auto may = may_complete(*job); !may) return may.error();
    complete(*job);
    return Settlement::settled;
}

template <>
Result<NackJob::Reply> JobDomain::apply(NackJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    const bool last = jobs_.release(*job, step.run_at, scope_.now);
    return last ? Settlement::buried : Settlement::settled;
}

template <>
Result<ReleaseJob::Reply> JobDomain::apply(ReleaseJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    jobs_.release_uncounted(*job, step.run_at, scope_.now);
    return Settlement::settled;
}

template <>
Result<FailJob::Reply> JobDomain::apply(FailJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    return jobs_.fail(*job, step, scope_.now) ? Settlement::buried : Settlement::settled;
}

Outcome JobDomain::perform(JobSteps steps, Step& step) { return apply_one_of(*this, steps, step); }

}  // namespace routemaster::detail
