/// @file
/// The state machine: what each step does. Single writer, no clock, no randomness, no I/O. It is
/// the readable specification of the steps, and what other stores are compared with.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/detail/delivery_job.hpp"
#include "routemaster/detail/published_tags.hpp"
#include "routemaster/detail/state/counters.hpp"
#include "routemaster/detail/state/directory.hpp"
#include "routemaster/detail/state/entity.hpp"
#include "routemaster/detail/state/jobs.hpp"
#include "routemaster/detail/state/outboxes.hpp"
#include "routemaster/detail/step_check.hpp"
#include "routemaster/health.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The whole state of a bus, and the steps upon it. Not thread safe: its store serialises.
class Machine {
public:
    /// Everything that was ever changed, as a value of `reveals`.
    static constexpr std::uint64_t everything = UINT64_MAX;

    /// `effects` must outlive it.
    explicit Machine(Effects& effects)
        : effects_{effects},
          counters_{effects},
          jobs_{effects, counters_},
          outboxes_{effects, counters_, jobs_},
          directory_{effects, outboxes_} {}

    Outcome perform(Step& step, TimePoint now) {
        now_ = now;
        reveals_ = everything;
        return std::visit(
            [this](auto& any) -> Outcome {
                if (auto checked = check_step(any); !checked) return checked.error();
                try {
                    auto reply = apply(any);
                    if (!reply) return reply.error();
                    return Reply{std::move(*reply)};
                } catch (const Failure& failure) {
                    // What was let go of memory cannot be read. Steps read before they change.
                    return failure.error();
                }
            },
            step);
    }

    /// The newest journal row that the last outcome tells anything of. What it reveals beyond what
    /// it changed must be durable before it may be told.
    [[nodiscard]] std::uint64_t reveals() const noexcept { return reveals_; }

    [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
    [[nodiscard]] JobTable& jobs() noexcept { return jobs_; }
    [[nodiscard]] OutboxTable& outboxes() noexcept { return outboxes_; }
    [[nodiscard]] Directory& directory() noexcept { return directory_; }

    /// Connects everything that was restored part by part.
    void settle_restored() {
        directory_.settle_restored(jobs_);
        outboxes_.settle_restored();
        jobs_.settle_restored();
        outboxes_.prune(
            [this](const std::string& token) { return directory_.subscriber(token) != nullptr; });
    }

private:
    static Error invalid(const char* text) { return {Errc::invalid, text}; }

    // --- Topics and events ----------------------------------------------------------------------

    Result<PublishEvent::Reply> apply(PublishEvent& step) {
        if (step.authenticate && !is_valid_token(step.publisher)) return unknown_publisher();
        auto* topic = directory_.topic(step.topic);
        const bool owned = topic != nullptr && topic->topic.publisher.has_value();
        if (owned && topic->topic.publisher != step.publisher) return topic_claimed();
        if (!owned && step.publisher && directory_.claims(*step.publisher) >= step.topics_max) {
            return too_many_topics();
        }
        if (topic == nullptr) {
            topic = &directory_.create_topic(step.topic, step.publisher);
        } else if (!owned && step.publisher) {
            directory_.claim(*topic, *step.publisher);
        }
        count_published(*topic, step.message.size());
        if (!topic->subscribers.empty()) fan_out(*topic, step);
        return Done{};
    }

    [[nodiscard]] bool is_valid_token(const std::optional<std::string>& token) {
        return token && directory_.token(*token) != nullptr;
    }

    void fan_out(const TopicState& topic, const PublishEvent& step) {
        std::vector<BatchState*> batches;
        batches.reserve(topic.subscribers.size());
        std::uint32_t sibling = 0;
        for (const auto* subscriber : topic.subscribers) {
            auto& outbox = *subscriber->outbox;
            if (outbox.current == nullptr) {
                auto uid = step.uid.sibling(sibling++);
                while (outboxes_.taken(uid)) uid = step.uid.sibling(sibling++);
                const auto due = saturating_add(std::min(step.timestamp, now_),
                                                subscriber->subscription.timeout);
                outboxes_.begin(outbox, uid, due, now_);
            }
            outboxes_.append(*outbox.current, step.message);
            batches.push_back(outbox.current);
        }
        effects_.appended(step.message, batches);
        for (std::size_t i = 0; i < batches.size(); ++i) {
            const auto full = topic.subscribers[i]->subscription.max_events;
            if (batches[i]->messages.size() >= full) seal_full(*batches[i]);
        }
    }

    void seal_full(BatchState& batch) {
        outboxes_.seal(batch);
        if (batch.job->state == JobState::State::scheduled) {
            jobs_.reschedule(*batch.job, now_, now_);
        }
    }

    void count_published(TopicState& topic, std::size_t bytes) {
        if (topic.published == nullptr) {
            const auto tags = published_tags(topic.topic.name, topic.topic.publisher);
            topic.published = &counters_.at({"events.published", tags});
            topic.bytes = &counters_.at({"events.bytes", tags});
        }
        counters_.add(*topic.published, 1);
        counters_.add(*topic.bytes, static_cast<std::int64_t>(bytes));
        ++topic.topic.events;
        effects_.counted(topic);
    }

    Result<RemoveTopic::Reply> apply(RemoveTopic& step) {
        auto* topic = directory_.topic(step.name);
        if (topic == nullptr) return Removal::unknown;
        if (step.publisher && topic->topic.publisher != step.publisher) return topic_claimed();
        directory_.remove(*topic);
        return Removal::removed;
    }

    Result<ListTopics::Reply> apply(ListTopics& step) { return directory_.topics(step.page); }

    // --- Subscribers ----------------------------------------------------------------------------

    Result<Subscribe::Reply> apply(Subscribe& step) {
        auto& subscriber = directory_.open_subscriber(step.token);
        auto& subscription = subscriber.subscription;
        subscription.callback = step.options.callback;
        subscription.uuid = step.options.uuid;
        if (step.options.timeout) subscription.timeout = *step.options.timeout;
        if (step.options.max_events) subscription.max_events = *step.options.max_events;
        if (step.options.max_in_flight) subscription.max_in_flight = *step.options.max_in_flight;
        if (step.options.attempts_max) subscription.attempts_max = *step.options.attempts_max;
        if (step.options.age_max) subscription.age_max = *step.options.age_max;
        if (step.options.dead_max) subscription.dead_max = *step.options.dead_max;
        jobs_.widen(subscriber.outbox->lane, subscription.max_in_flight);
        replace_topics(subscriber, step.topics);
        effects_.changed(subscriber);
        return Done{};
    }

    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics) {
        const std::set<std::string> wanted{topics.begin(), topics.end()};
        for (const auto& name : std::set<std::string>{subscriber.topics}) {
            if (!wanted.contains(name)) directory_.unlink(subscriber, name);
        }
        for (const auto& name : wanted) {
            auto* topic = directory_.topic(name);
            if (topic == nullptr) topic = &directory_.create_topic(name, std::nullopt);
            directory_.link(subscriber, *topic);
        }
    }

    Result<Unsubscribe::Reply> apply(Unsubscribe& step) {
        auto* subscriber = directory_.subscriber(step.token);
        if (subscriber == nullptr) return Unsubscription::unknown_subscriber;
        if (directory_.topic(step.topic) == nullptr) return Unsubscription::unknown_topic;
        if (!subscriber->topics.contains(step.topic)) return Unsubscription::not_subscribed;
        directory_.unlink(*subscriber, step.topic);
        effects_.changed(*subscriber);
        return Unsubscription::unsubscribed;
    }

    Result<RemoveSubscriber::Reply> apply(RemoveSubscriber& step) {
        auto* subscriber = directory_.subscriber(step.token);
        if (subscriber == nullptr) return Removal::unknown;
        remove(*subscriber);
        return Removal::removed;
    }

    /// Its batches end one after the other, whatever it had asked for.
    void remove(SubscriberState& subscriber) {
        subscriber.outbox->lane.window = Lane::start;
        jobs_.widen(subscriber.outbox->lane, 1);
        directory_.remove(subscriber);
    }

    Result<ListSubscribers::Reply> apply(ListSubscribers& step) {
        return directory_.subscribers(step.page);
    }

    Result<FindSubscriber::Reply> apply(FindSubscriber& step) {
        const auto* subscriber = directory_.subscriber(step.token);
        if (subscriber == nullptr) return std::optional<SubscriberStatus>{};
        return std::optional{Directory::status(*subscriber)};
    }

    Result<ListBatches::Reply> apply(ListBatches& step) {
        std::vector<BatchStatus> all;
        const auto* outbox = outboxes_.find(step.token);
        if (outbox == nullptr) return all;
        for (const auto* batch = outbox->batches.front();
             batch != nullptr && all.size() < step.limit; batch = outbox->batches.next(*batch)) {
            all.push_back({batch->uid, step.token, batch->created_at, batch->attempts,
                           batch->messages.size(), batch->current});
        }
        return all;
    }

    // --- API tokens -----------------------------------------------------------------------------

    Result<PutToken::Reply> apply(PutToken& step) {
        directory_.put_token({step.token, step.name});
        return Done{};
    }

    Result<RemoveToken::Reply> apply(RemoveToken& step) {
        auto* subscriber = directory_.subscriber(step.token);
        auto* token = directory_.token(step.token);
        if (subscriber == nullptr && token == nullptr) return Removal::unknown;
        if (subscriber != nullptr) remove(*subscriber);
        if (token != nullptr) directory_.remove(*token);
        return Removal::removed;
    }

    Result<FindToken::Reply> apply(FindToken& step) {
        const auto* token = directory_.token(step.token);
        if (token == nullptr) return std::optional<std::string>{};
        reveals_ = token->last_row;
        return std::optional{token->token.name};
    }

    Result<ListTokens::Reply> apply(ListTokens& step) { return directory_.tokens(step.page); }

    // --- Jobs -----------------------------------------------------------------------------------

    Result<PushJob::Reply> apply(PushJob& step) {
        auto& queue = jobs_.queue(step.queue);
        const auto hash = payload_hash(step.job);
        if (const auto* present = jobs_.find(queue, step.job, hash)) {
            reveals_ = present->last_row;
            return PushOutcome::duplicate;
        }
        jobs_.push(queue, step.job, hash, step.run_at, jobs_.next_order(), nullptr, now_);
        return PushOutcome::pushed;
    }

    Result<AcquireJobs::Reply> apply(AcquireJobs& step) {
        reveals_ = 0;
        auto& queue = jobs_.queue(step.queue);
        return jobs_.acquire(queue, step, now_, [this](const JobState& job) {
            reveal(job);
            if (job.lane != nullptr) reveals_ = std::max(reveals_, job.lane->skipped_row);
        });
    }

    Result<AckJob::Reply> apply(AckJob& step) {
        auto* job = jobs_.held(step.lease);
        if (job == nullptr) return Settlement::lease_lost;
        if (delivered_by(*job) != nullptr) {
            return invalid("lease: a delivery is ended by SettleDelivery");
        }
        jobs_.remove(*job);
        return Settlement::settled;
    }

    Result<NackJob::Reply> apply(NackJob& step) {
        auto* job = jobs_.held(step.lease);
        if (job == nullptr) return Settlement::lease_lost;
        jobs_.give_back(*job, step.run_at, now_);
        return Settlement::settled;
    }

    Result<Heartbeat::Reply> apply(Heartbeat& step) {
        reveals_ = 0;
        jobs_.heartbeat(step.worker, now_);
        return Done{};
    }

    Result<RetireWorker::Reply> apply(RetireWorker& step) {
        return Count{jobs_.retire(step.worker, now_)};
    }

    Result<ScrubWorkers::Reply> apply(ScrubWorkers& step) {
        reveals_ = 0;
        return Count{jobs_.scrub(step.silence, now_)};
    }

    Result<CountJobs::Reply> apply(CountJobs& step) {
        return JobTable::count(jobs_.queue(step.queue), now_);
    }

    // --- Deliveries -----------------------------------------------------------------------------

    Result<BeginDelivery::Reply> apply(BeginDelivery& step) {
        auto* job = jobs_.held(step.lease);
        if (job == nullptr) return DeliveryStart{};
        const auto uid = batch_of(job->payload.text());
        if (!uid || job->queue.name != delivery_queue) {
            return invalid("lease: not a delivery job");
        }
        auto* batch = outboxes_.find(*uid);
        // Somebody pushed the job of a batch that is DEAD, which is not to be delivered.
        if (batch != nullptr && batch->death != nullptr) batch = nullptr;
        auto* subscriber = batch == nullptr ? nullptr : directory_.subscriber(token_of(*batch));
        if (subscriber == nullptr || batch->messages.empty()) {
            end_vanished(*job, batch, subscriber != nullptr);
            return DeliveryStart{.verdict = Verdict::vanished};
        }
        if (const auto wait = throttle(*subscriber, step); wait > Duration{0}) {
            count_delivery(*batch, OutboxCounter::throttled_batches,
                           OutboxCounter::throttled_events);
            const auto lengthened = static_cast<double>(wait.count()) * (1.0 + step.jitter);
            jobs_.give_back(*job, now_ + Duration{std::llround(lengthened)}, now_);
            return DeliveryStart{.verdict = Verdict::throttled};
        }
        if (crowded(*job, step)) {
            jobs_.give_back(*job, now_, now_);
            return DeliveryStart{.verdict = Verdict::crowded};
        }
        // Read before anything is changed: it may fail.
        auto messages = batch->messages.resident() ? batch->messages.list() : effects_.read(*batch);
        return begin(*batch, *subscriber, std::move(messages));
    }

    /// The batch that ends with a job; null for other jobs, a copy in another queue among them.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const {
        const auto uid = batch_of(job.payload.text());
        auto* batch = uid ? outboxes_.find(*uid) : nullptr;
        return batch != nullptr && batch->job == &job ? batch : nullptr;
    }

    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages) {
        if (batch.current) outboxes_.seal(batch);
        ++batch.attempts;
        subscriber.last_attempted_at = now_;
        reveals_ = 0;
        reveal(batch);
        reveal(subscriber);
        return {.verdict = Verdict::deliver,
                .subscription = subscriber.subscription,
                .health_points = subscriber.health_points,
                .batch = batch.uid,
                .created_at = batch.created_at,
                .attempt = batch.attempts,
                .messages = std::move(messages)};
    }

    /// How long the subscriber is still to be spared.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const {
        if (subscriber.health_points >= health_points_max) return Duration{0};
        if (!subscriber.last_attempted_at) return step.pause;
        const auto wait = health_backoff(subscriber.health_points, step.backoff_max);
        const bool early = *subscriber.last_attempted_at + wait > now_;
        return std::max(early ? wait : Duration{0}, step.pause);
    }

    /// Whether others of its lane have all the deliveries that the lane may have.
    bool crowded(JobState& job, const BeginDelivery& step) {
        if (job.lane == nullptr) return false;
        jobs_.narrow(*job.lane, std::max(step.lane_max, 1U));
        return !job.admitted;
    }

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists) {
        if (batch != nullptr) {
            outboxes_.remove(*batch, subscriber_exists);
        } else {
            jobs_.remove(job);
        }
    }

    Result<SettleDelivery::Reply> apply(SettleDelivery& step) {
        auto* job = jobs_.held(step.lease);
        if (job == nullptr) return Settlement::lease_lost;
        auto* batch = delivered_by(*job);
        if (batch == nullptr) return invalid("lease: not a delivery job, or its batch is gone");
        count_attempt(*batch, step);
        auto* subscriber = directory_.subscriber(token_of(*batch));
        if (subscriber != nullptr) change_health(*subscriber, step);
        const bool dead = subscriber != nullptr && dies(*batch, subscriber->subscription, step);
        if (step.delivered) {
            outboxes_.remove(*batch, subscriber != nullptr);
        } else if (dead) {
            outboxes_.bury(*batch, step.error, subscriber->subscription.dead_max, now_);
        } else {
            jobs_.give_back(*job, step.retry_at, now_);
            effects_.changed(*batch);
        }
        if (subscriber != nullptr) {
            jobs_.adapt(subscriber->outbox->lane, step.delivered, std::max(step.lane_max, 1U));
        }
        return dead ? Settlement::dead : Settlement::settled;
    }

    /// Whether the failure of an attempt is the last of its batch.
    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const {
        if (step.delivered || !wants.dead_letters()) return false;
        return step.permanent || (wants.attempts_max > 0 && batch.attempts >= wants.attempts_max) ||
               (wants.age_max > Duration{0} && now_ - batch.created_at >= wants.age_max);
    }

    /// A failure is told even when there is no health left to lose: when it was attempted counts.
    void change_health(SubscriberState& subscriber, const SettleDelivery& step) {
        const auto points = changed_health(subscriber.health_points, step.health_change);
        if (points == subscriber.health_points && step.delivered) return;
        subscriber.health_points = points;
        effects_.changed(subscriber);
    }

    void count_attempt(const BatchState& batch, const SettleDelivery& step) {
        using enum OutboxCounter;
        auto& outbox = batch.outbox;
        count_delivery(batch, step.delivered ? delivered_batches : failed_batches,
                       step.delivered ? delivered_events : failed_events);
        // At most a day, whatever the clock did meanwhile, so that its square stays exact anywhere.
        const auto took =
            std::clamp<std::int64_t>((now_ - step.begun_at).count(), 0, 24 * 3'600'000);
        outboxes_.count(outbox, step.delivered ? delivered_time : failed_time, took);
        outboxes_.count(outbox, step.delivered ? delivered_time2 : failed_time2, took * took);
        const auto age = (step.begun_at - batch.created_at).count();
        if (batch.attempts == 1) {
            outboxes_.count(outbox, first_attempts, 1);
            outboxes_.count(outbox, first_attempt_latency, age);
        }
        if (step.delivered) outboxes_.count(outbox, last_attempt_latency, age);
    }

    void count_delivery(const BatchState& batch, OutboxCounter batches, OutboxCounter events) {
        outboxes_.count(batch.outbox, batches, 1);
        outboxes_.count(batch.outbox, events, static_cast<std::int64_t>(batch.messages.size()));
    }

    static const std::string& token_of(const BatchState& batch) { return batch.outbox.lane.name; }

    // --- DEAD batches ---------------------------------------------------------------------------

    Result<ListDeadBatches::Reply> apply(ListDeadBatches& step) {
        std::vector<DeadBatchStatus> all;
        const auto* outbox = outboxes_.find(step.token);
        if (outbox == nullptr) return all;
        for (const auto* batch = outbox->dead.front(); batch != nullptr && all.size() < step.limit;
             batch = outbox->dead.next(*batch)) {
            all.push_back(status(*batch));
        }
        return all;
    }

    Result<FindDeadBatch::Reply> apply(FindDeadBatch& step) {
        const auto* batch = dead(step.token, step.batch);
        if (batch == nullptr) return std::optional<DeadMessages>{};
        return std::optional<DeadMessages>{{status(*batch), batch->messages.resident()
                                                                ? batch->messages.list()
                                                                : effects_.read(*batch)}};
    }

    Result<RedeliverDeadBatches::Reply> apply(RedeliverDeadBatches& step) {
        Count count;
        each_dead(step.token, step.batch, [&](BatchState& batch) {
            if (outboxes_.redeliver(batch, now_)) ++count.value;
        });
        return count;
    }

    Result<DropDeadBatches::Reply> apply(DropDeadBatches& step) {
        Dropped dropped;
        each_dead(step.token, step.batch, [&](BatchState& batch) {
            ++dropped.batches;
            dropped.events += batch.messages.size();
            outboxes_.drop_dead(batch);
        });
        return dropped;
    }

    /// The DEAD batch of that subscriber and id; null when there is none.
    [[nodiscard]] BatchState* dead(const std::string& token, const Uid& uid) const {
        auto* batch = outboxes_.find(uid);
        const bool found = batch != nullptr && batch->death != nullptr && token_of(*batch) == token;
        return found ? batch : nullptr;
    }

    /// Calls `act`, which may end it, with the DEAD batch that is named, or with all of the
    /// subscriber, in the order they died, at most `dead_moved_max`.
    template <class Act>
    void each_dead(const std::string& token, const std::optional<Uid>& uid, Act act) {
        if (uid) {
            if (auto* batch = dead(token, *uid)) act(*batch);
            return;
        }
        const auto* outbox = outboxes_.find(token);
        auto* next = outbox == nullptr ? nullptr : outbox->dead.front();
        for (std::uint32_t moved = 0; next != nullptr && moved < dead_moved_max; ++moved) {
            auto& batch = *next;
            next = outbox->dead.next(batch);
            act(batch);
        }
    }

    static DeadBatchStatus status(const BatchState& batch) {
        return {.uid = batch.uid,
                .subscriber = token_of(batch),
                .created_at = batch.created_at,
                .died_at = batch.death->at,
                .attempts = batch.attempts,
                .events = batch.messages.size(),
                .error = batch.death->error};
    }

    // --- Room -----------------------------------------------------------------------------------

    Result<MeasureUse::Reply> apply(MeasureUse&) { return StoreUse{outboxes_.bytes()}; }

    Result<DropOldestBatches::Reply> apply(DropOldestBatches& step) {
        return outboxes_.drop_oldest(step.limit, [this](const std::string& token) {
            return directory_.subscriber(token) != nullptr;
        });
    }

    // --- Counters -------------------------------------------------------------------------------

    Result<AddToCounters::Reply> apply(AddToCounters& step) {
        for (auto& [key, increment] : step.increments) counters_.add(std::move(key), increment);
        return Done{};
    }

    Result<ListCounters::Reply> apply(ListCounters& step) { return counters_.list(step.page); }

    void reveal(const Entity& entity) { reveals_ = std::max(reveals_, entity.last_row); }

    Effects& effects_;
    CounterTable counters_;
    JobTable jobs_;
    OutboxTable outboxes_;
    Directory directory_;
    TimePoint now_{};
    std::uint64_t reveals_ = 0;
};

}  // namespace routemaster::detail
