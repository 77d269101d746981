#include <algorithm>
#include <cstdint>

#include "core/store/delivery_job.hpp"
#include "oracle.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::simulation {

namespace {

std::string topic_of(std::string_view message) {
    const auto event = decode_message(message);
    return event ? event->topic : "";
}

}  // namespace

void Oracle::replied(std::uint64_t, const Submission&, const BeginDelivery& step,
                     const DeliveryStart& start) {
    const auto holder = account_of(step.lease).holder;
    used(step.lease, start.verdict != Verdict::lease_lost);
    if (start.verdict == Verdict::vanished) return gone(step.lease);
    if (start.verdict == Verdict::throttled || start.verdict == Verdict::at_limit) {
        return nacked(step.lease, TimePoint::min());
    }
    if (start.verdict != Verdict::deliver) return;
    account_of(step.lease).holder = holder;
    auto& batch = batches_[start.batch];
    if (batch.subscriber.empty()) batch = {start.subscription.token, start.messages};
    batch.attempts = std::max(batch.attempts, start.attempt);
    if (batch.messages != start.messages) {
        context_.fail("a batch changed after its first delivery: " +
                      std::string{start.batch.text()});
    }
    if (start.messages.size() > start.subscription.max_events) {
        context_.fail("a batch exceeds max_events: " + std::string{start.batch.text()});
    }
}

void Oracle::replied(std::uint64_t, const Submission&, const SettleDelivery& step,
                     Settlement outcome) {
    used(step.lease, outcome != Settlement::lease_lost);
    if (outcome == Settlement::lease_lost) return;
    auto* batch = batch_of(step.lease);
    if (outcome == Settlement::dead) {
        if (batch == nullptr)
            context_.fail("a batch is DEAD without an attempt: " + name_of(step.lease));
        const auto attempts_max = subscribers_[batch->subscriber].attempts_max;
        if (step.delivered || attempts_max == 0) {
            context_.fail("a batch is DEAD, but its subscriber set no limit: " +
                          name_of(step.lease));
        }
        if (!step.permanent && batch->attempts < attempts_max) {
            context_.fail("a batch is DEAD before its last attempt: " + name_of(step.lease));
        }
        context_.note(name_of(step.lease) + " is DEAD");
        may_be_dead(*batch);
        return gone(step.lease);
    }
    if (!step.delivered) return nacked(step.lease, step.retry_at);
    if (batch != nullptr) batch->may_be_dead = false;
    gone(step.lease);
}

Oracle::BatchAccount* Oracle::batch_of(const Lease& lease) {
    const auto uid = detail::batch_of(lease.job);
    const auto found = uid ? batches_.find(*uid) : batches_.end();
    return found == batches_.end() ? nullptr : &found->second;
}

bool Oracle::may_have_died(const Uid& batch) const {
    const auto found = batches_.find(batch);
    return found != batches_.end() && found->second.may_be_dead;
}

void Oracle::may_be_dead(BatchAccount& batch) {
    batch.may_be_dead = true;
    auto& account = subscribers_[batch.subscriber];
    for (const auto message : batch.messages) account.late.insert(number_of(message));
}

void Oracle::replied(std::uint64_t, const Submission&, const RedeliverDeadBatches& step, Count) {
    may_be_redelivered(step);
}

/// DEAD batches may have been redelivered, so their delivery jobs may exist.
void Oracle::may_be_redelivered(const RedeliverDeadBatches& step) {
    for (auto& [uid, batch] : batches_) {
        if (!batch.may_be_dead || batch.subscriber != step.token) continue;
        if (step.batch && *step.batch != uid) continue;
        auto& job = jobs_[{delivery_queue, detail::delivery_job(uid)}];
        if (job.existence == Existence::absent) job.existence = Existence::unknown;
        job.not_before = TimePoint::min();
    }
}

void Oracle::replied(std::uint64_t, const Submission&, const DropOldestBatches&, Dropped dropped) {
    dropped_ += dropped.events;
    if (dropped.batches > 0) forgive_deliveries();
}

/// Batches were dropped, but the reply does not name them. Any delivery job may have been removed.
void Oracle::forgive_deliveries() {
    std::erase_if(orphans_,
                  [](const auto& orphan) { return orphan.first.first == delivery_queue; });
}

void Oracle::arrived(const std::string& subscriber, const Uid& batch, const MessageList& messages) {
    auto& account = subscribers_[subscriber];
    // After a drop, the order is not checked: a dropped batch may arrive late from a killed worker.
    const bool in_order = account.in_order && dropped_ == 0 && !drops_in_doubt_;
    std::uint64_t before = 0;
    for (const auto message : messages) {
        const auto event = number_of(message);
        const auto what = "event " + std::to_string(event) + " for " + subscriber + " in batch " +
                          std::string{batch.text()};
        const bool late = account.late.contains(event);
        if (event <= before && !late) {
            context_.fail("events of a batch are out of order: " + what);
        }
        before = late ? before : event;
        if (arrived_in_.emplace(std::pair{subscriber, event}, batch).first->second != batch) {
            context_.fail("an event was delivered in a second batch: " + what);
        }
        if (!account.topics.contains(topic_of(message))) {
            context_.fail("an event was delivered to a client without a subscription: " + what);
        }
        if (refused_.contains(event)) context_.fail("a refused event was delivered: " + what);
        const bool fresh = !account.delivered.contains(event);
        if (fresh && in_order && !late && !account.delivered.empty() &&
            *account.delivered.rbegin() > event) {
            context_.fail("an event was delivered after the later event " +
                          std::to_string(*account.delivered.rbegin()) + ": " + what);
        }
        account.delivered.insert(event);
        account.owed.erase(event);
    }
}

}  // namespace routemaster::simulation
