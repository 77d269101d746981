#include "core/bus/state/delivery_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/store/dead_error.hpp"
#include "core/store/delivery_job.hpp"
#include "routemaster/health.hpp"

namespace routemaster::detail {

template <>
Result<BeginDelivery::Reply> DeliveryDomain::apply(BeginDelivery& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return DeliveryStart{};
    const auto uid = batch_of(job->payload.text());
    if (!uid || job->queue.name != delivery_queue) {
        return Error{Errc::invalid, "lease: not a delivery job"};
    }
    auto* batch = subscriber_queues_.find(*uid);
    // A client has pushed a delivery job with the id of a DEAD batch. DEAD batches are not
    // delivered, so the job is handled as a job without a batch.
    if (batch != nullptr && batch->death != nullptr) batch = nullptr;
    auto* subscriber = batch == nullptr ? nullptr : registry_.subscriber(token_of(*batch));
    if (subscriber == nullptr || batch->messages.empty()) {
        end_vanished(*job, batch, subscriber != nullptr);
        return DeliveryStart{.verdict = Verdict::vanished};
    }
    // Assumes that the record of this step needs no sync of its own. Only a first attempt does, and
    // then `begin` sets `scope_.hurried`. A sync for each throttled or repeated attempt would slow
    // down publications to healthy subscribers.
    scope_.hurried = false;
    if (const auto wait = throttle(*subscriber, step); wait > Duration{0}) {
        count_delivery(*batch, SubscriberQueueCounter::throttled_batches,
                       SubscriberQueueCounter::throttled_events);
        const auto lengthened = static_cast<double>(wait.count()) * (1.0 + step.jitter);
        jobs_.release(*job, retry_time(scope_.now, Duration{std::llround(lengthened)}), scope_.now);
        return DeliveryStart{.verdict = Verdict::throttled};
    }
    if (at_limit(*job, step)) {
        jobs_.release(*job, scope_.now, scope_.now);
        return DeliveryStart{.verdict = Verdict::at_limit};
    }
    // Reading from the journal may fail, so the messages are read before any change.
    auto messages = batch->messages.resident() ? batch->messages.list() : changes_.read(*batch);
    return begin(*batch, *subscriber, std::move(messages));
}

/// Whether the first attempt of a batch waits until the record of the seal is on disk. Without this
/// wait, a crash after the attempt can lose the record. A batch that is CURRENT after a crash
/// therefore accepts no more events (`closed`), and is delivered half empty. With this wait, a
/// batch that is CURRENT after a crash was never attempted, and can be filled. Deliveries with a
/// long timeout or with limited attempts wait.
bool DeliveryDomain::awaits_seal(const Subscription& wants) {
    return wants.attempts_max > 0 || wants.timeout >= Duration{1'000};
}

void DeliveryDomain::mark_restored() {
    subscriber_queues_.each_of_all([this](BatchState& batch) {
        batch.restored = true;
        if (!batch.current) return;
        const auto* subscriber = registry_.subscriber(token_of(batch));
        batch.closed = subscriber == nullptr || !awaits_seal(subscriber->subscription);
    });
}

DeliveryStart DeliveryDomain::begin(BatchState& batch, SubscriberState& subscriber,
                                    MessageList messages) {
    scope_.depends_on_row = 0;
    scope_.depend_on(batch);
    scope_.depend_on(subscriber);
    count_begun(batch, subscriber.subscription);
    const bool first = batch.attempts == 1 && !batch.restored;
    if (!first || awaits_seal(subscriber.subscription)) scope_.depend_on(batch);
    scope_.hurried = batch.attempts == 1;
    subscriber.last_attempted_at = scope_.now;
    return {.verdict = Verdict::deliver,
            .subscription = subscriber.subscription,
            .health_points = subscriber.health_points,
            .batch = batch.uid,
            .created_at = batch.created_at,
            .attempt = batch.attempts,
            .messages = std::move(messages)};
}

/// Counts an attempt. The record of a seal contains the attempt that was made with the seal, and
/// the record of a failure contains all attempts so far. A sealed batch therefore needs a record of
/// this attempt only if attempts are limited, or if an earlier attempt may have left no record,
/// because a process before a restart made it or a crash interrupted it.
void DeliveryDomain::count_begun(BatchState& batch, const Subscription& wants) {
    ++batch.attempts;
    const bool recorded = batch.attempts == 1 ? batch.sealed_here : batch.last_error != nullptr;
    const bool logged = !batch.current && (!recorded || wants.attempts_max > 0);
    if (batch.current) subscriber_queues_.seal(batch);
    if (logged) changes_.changed(batch);
}

Duration DeliveryDomain::throttle(const SubscriberState& subscriber,
                                  const BeginDelivery& step) const {
    if (subscriber.health_points >= health_points_max) return Duration{0};
    if (!subscriber.last_attempted_at) return step.pause;
    const auto wait = health_backoff(subscriber.health_points, step.backoff_max);
    // A `last_attempted_at` in the future was set while the clock was ahead. The absolute
    // difference is used, because the wait would otherwise be too long.
    const auto since = std::chrono::abs(scope_.now - *subscriber.last_attempted_at);
    const bool early = since < wait;
    return std::max(early ? wait : Duration{0}, step.pause);
}

bool DeliveryDomain::at_limit(JobState& job, const BeginDelivery& step) {
    auto* group = job.group();
    if (group == nullptr) return false;
    jobs_.groups().narrow(*group, std::max(step.concurrency_max, 1U));
    return !job.eligible;
}

void DeliveryDomain::end_vanished(JobState& job, BatchState* batch, bool subscriber_exists) {
    if (batch != nullptr) {
        subscriber_queues_.remove(*batch, subscriber_exists);
    } else {
        jobs_.remove(job);
    }
}

template <>
Result<SettleDelivery::Reply> DeliveryDomain::apply(SettleDelivery& step) {
    scope_.hurried = !step.patient;
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Settlement::lease_lost;
    auto* batch = subscriber_queues_.delivered_by(*job);
    if (batch == nullptr)
        return Error{Errc::invalid, "lease: not a delivery job, or its batch no longer exists"};
    // The attempt began before a crash, which lost the record of the seal. Seals the batch again.
    if (batch->current && batch->restored) subscriber_queues_.seal(*batch);
    count_attempt(*batch, step);
    auto* subscriber = registry_.subscriber(token_of(*batch));
    if (subscriber != nullptr) change_health(*subscriber, step);
    const bool dead = subscriber != nullptr && dies(*batch, subscriber->subscription, step);
    if (step.delivered) {
        subscriber_queues_.remove(*batch, subscriber != nullptr);
    } else if (dead) {
        subscriber_queues_.bury(*batch, step.error, subscriber->subscription.dead_max, scope_.now);
    } else {
        jobs_.release(*job, step.retry_at, scope_.now);
        batch->last_error = std::make_unique<std::string>(kept_error(step.error));
        changes_.changed(*batch);
    }
    if (subscriber != nullptr) {
        jobs_.groups().adapt(subscriber->subscriber_queue->group, step.delivered,
                             std::max(step.concurrency_max, 1U));
    }
    return dead ? Settlement::dead : Settlement::settled;
}

bool DeliveryDomain::dies(const BatchState& batch, const Subscription& wants,
                          const SettleDelivery& step) const {
    if (step.delivered || !wants.dead_letters()) return false;
    return step.permanent || (wants.attempts_max > 0 && batch.attempts >= wants.attempts_max) ||
           (wants.age_max > Duration{0} && scope_.now - batch.created_at >= wants.age_max);
}

void DeliveryDomain::change_health(SubscriberState& subscriber, const SettleDelivery& step) {
    const auto points = changed_health(subscriber.health_points, step.health_change);
    if (points == subscriber.health_points && step.delivered) return;
    subscriber.health_points = points;
    // A crash may lose the record of a changed health without harm. Restoring `last_row` keeps
    // replies from waiting for this record.
    const auto awaited = subscriber.last_row;
    changes_.changed(subscriber);
    subscriber.last_row = awaited;
}

void DeliveryDomain::count_attempt(const BatchState& batch, const SettleDelivery& step) {
    using enum SubscriberQueueCounter;
    auto& subscriber_queue = batch.subscriber_queue;
    count_delivery(batch, step.delivered ? delivered_batches : failed_batches,
                   step.delivered ? delivered_events : failed_events);
    // Limited to a day, even if the clock was set forward, so that all stores represent the square
    // exactly.
    const auto took =
        std::clamp<std::int64_t>((scope_.now - step.begun_at).count(), 0, 24 * 3'600'000);
    subscriber_queues_.count(subscriber_queue, step.delivered ? delivered_time : failed_time, took);
    subscriber_queues_.count(subscriber_queue, step.delivered ? delivered_time2 : failed_time2,
                             took * took);
    const auto age = (step.begun_at - batch.created_at).count();
    if (batch.attempts == 1) {
        subscriber_queues_.count(subscriber_queue, first_attempts, 1);
        subscriber_queues_.count(subscriber_queue, first_attempt_latency, age);
    }
    if (step.delivered) subscriber_queues_.count(subscriber_queue, last_attempt_latency, age);
}

void DeliveryDomain::count_delivery(const BatchState& batch, SubscriberQueueCounter batches,
                                    SubscriberQueueCounter events) {
    subscriber_queues_.count(batch.subscriber_queue, batches, 1);
    subscriber_queues_.count(batch.subscriber_queue, events,
                             static_cast<std::int64_t>(batch.messages.size()));
}

Outcome DeliveryDomain::perform(DeliverySteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
