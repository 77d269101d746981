/// @file
/// The state machine: what each step does. Single writer, no clock, no randomness, no I/O. It is
/// the readable specification of the steps, and what other stores are compared with.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/jobs.hpp"
#include "core/state/registry.hpp"
#include "core/state/subscriber_queues.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// The whole state of a bus, and the steps upon it. Not thread safe: its store serialises.
class Machine {
public:
    /// Everything that was ever changed, as a value of `depends_on_row`.
    static constexpr std::uint64_t everything = UINT64_MAX;

    /// `changes` must outlive it.
    explicit Machine(ChangeLog& changes);

    Outcome perform(Step& step, TimePoint now);

    /// The newest journal row that the last outcome tells anything of. What it depends on beyond
    /// what it changed must be durable before it may be told.
    [[nodiscard]] std::uint64_t depends_on_row() const noexcept { return depends_on_row_; }

    [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
    [[nodiscard]] JobTable& jobs() noexcept { return jobs_; }
    [[nodiscard]] SubscriberQueueTable& subscriber_queues() noexcept { return subscriber_queues_; }
    [[nodiscard]] Registry& registry() noexcept { return registry_; }

    /// Connects everything that was restored part by part.
    void settle_restored();

private:
    static Error invalid(const char* text) { return {Errc::invalid, text}; }

    // --- Topics and events ----------------------------------------------------------------------

    Result<PublishEvent::Reply> apply(PublishEvent& step);
    [[nodiscard]] bool is_valid_token(const std::optional<std::string>& token);
    void fan_out(const TopicState& topic, const PublishEvent& step);
    void seal_full(BatchState& batch);
    void count_published(TopicState& topic, std::size_t bytes);
    Result<RemoveTopic::Reply> apply(RemoveTopic& step);
    Result<ListTopics::Reply> apply(ListTopics& step);

    // --- Subscribers ----------------------------------------------------------------------------

    Result<Subscribe::Reply> apply(Subscribe& step);
    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics);
    Result<Unsubscribe::Reply> apply(Unsubscribe& step);
    Result<RemoveSubscriber::Reply> apply(RemoveSubscriber& step);

    /// Its batches end one after the other, whatever it had asked for.
    void remove(SubscriberState& subscriber);

    Result<ListSubscribers::Reply> apply(ListSubscribers& step);
    Result<FindSubscriber::Reply> apply(FindSubscriber& step);
    Result<ListBatches::Reply> apply(ListBatches& step);

    // --- API tokens -----------------------------------------------------------------------------

    Result<PutToken::Reply> apply(PutToken& step);
    Result<RemoveToken::Reply> apply(RemoveToken& step);
    Result<FindToken::Reply> apply(FindToken& step);
    Result<ListTokens::Reply> apply(ListTokens& step);

    // --- Jobs -----------------------------------------------------------------------------------

    Result<PushJob::Reply> apply(PushJob& step);
    Result<AcquireJobs::Reply> apply(AcquireJobs& step);
    Result<AckJob::Reply> apply(AckJob& step);
    Result<NackJob::Reply> apply(NackJob& step);
    Result<Heartbeat::Reply> apply(Heartbeat& step);
    Result<RetireWorker::Reply> apply(RetireWorker& step);
    Result<ScrubWorkers::Reply> apply(ScrubWorkers& step);
    Result<CountJobs::Reply> apply(CountJobs& step);

    // --- Deliveries -----------------------------------------------------------------------------

    Result<BeginDelivery::Reply> apply(BeginDelivery& step);

    /// The batch that ends with a job; null for other jobs, a copy in another queue among them.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const;

    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages);
    void count_begun(BatchState& batch, const Subscription& wants);

    /// How long the subscriber is still to be spared.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const;

    /// Whether others of its group have all the deliveries that the group may have.
    bool at_limit(JobState& job, const BeginDelivery& step);

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists);
    Result<SettleDelivery::Reply> apply(SettleDelivery& step);

    /// Whether the failure of an attempt is the last of its batch.
    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const;

    /// A failure is told even when there is no health left to lose: when it was attempted counts.
    void change_health(SubscriberState& subscriber, const SettleDelivery& step);

    void count_attempt(const BatchState& batch, const SettleDelivery& step);
    void count_delivery(const BatchState& batch, SubscriberQueueCounter batches,
                        SubscriberQueueCounter events);
    static const std::string& token_of(const BatchState& batch) {
        return batch.subscriber_queue.group.name;
    }

    // --- DEAD batches ---------------------------------------------------------------------------

    Result<ListDeadBatches::Reply> apply(ListDeadBatches& step);
    Result<FindDeadBatch::Reply> apply(FindDeadBatch& step);
    Result<RedeliverDeadBatches::Reply> apply(RedeliverDeadBatches& step);
    Result<DropDeadBatches::Reply> apply(DropDeadBatches& step);

    /// The DEAD batch of that subscriber and id; null when there is none.
    [[nodiscard]] BatchState* dead(const std::string& token, const Uid& uid) const;

    /// Calls `act`, which may end it, with the DEAD batch that is named, or with all of the
    /// subscriber, in the order they died, at most `dead_moved_max`.
    template <class Act>
    void each_dead(const std::string& token, const std::optional<Uid>& uid, Act act);

    static DeadBatchStatus status(const BatchState& batch);

    // --- Room -----------------------------------------------------------------------------------

    Result<MeasureUse::Reply> apply(MeasureUse&);
    Result<DropOldestBatches::Reply> apply(DropOldestBatches& step);

    // --- Counters -------------------------------------------------------------------------------

    Result<AddToCounters::Reply> apply(AddToCounters& step);
    Result<ListCounters::Reply> apply(ListCounters& step);

    void depend_on(const Entity& entity) {
        depends_on_row_ = std::max(depends_on_row_, entity.last_row);
    }

    ChangeLog& changes_;
    CounterTable counters_;
    JobTable jobs_;
    SubscriberQueueTable subscriber_queues_;
    Registry registry_;
    TimePoint now_{};
    std::uint64_t depends_on_row_ = 0;
};

}  // namespace routemaster::detail
