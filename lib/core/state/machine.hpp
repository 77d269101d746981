/// @file
/// The state machine: the effects of each step. It has a single writer, no clock, no randomness and
/// no I/O. It is the readable specification of the steps, and the reference for tests of all
/// stores.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/bus/state/registry.hpp"
#include "core/bus/state/subscriber_queues.hpp"
#include "core/containers/prefetch.hpp"
#include "core/jobs/state/jobs.hpp"
#include "core/jobs/state/recurring.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/name_limits.hpp"
#include "core/timers/state/timers.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

class EqualJobs;

/// State machine: the whole state of a bus, and the steps to change it. Not thread safe: the store
/// serialises calls.
class Machine {
public:
    /// Value of `depends_on_row`: all changes so far must be durable.
    static constexpr std::uint64_t everything = UINT64_MAX;

    /// `changes` must outlive the machine.
    explicit Machine(ChangeLog& changes, NameLimits limits = {});

    Outcome perform(Step& step, TimePoint now);

    /// How many steps `fetch_ahead` examines at most.
    static constexpr std::size_t ahead_max = prefetched_max;
    /// Prefetches the data of the first `ahead_max` steps into the processor's cache. To be called
    /// before these steps are performed. In a large state, most data of a step is not in the cache,
    /// and cache misses take longer than the step. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// The newest journal row whose content the last outcome reveals, apart from the step's own
    /// changes. The row must be durable before the outcome is reported.
    [[nodiscard]] std::uint64_t depends_on_row() const noexcept { return depends_on_row_; }
    /// Whether a caller waits until the last outcome is on disk. If not, the journal may write its
    /// record together with later records.
    [[nodiscard]] bool hurried() const noexcept { return hurried_; }

    [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
    [[nodiscard]] JobTable& jobs() noexcept { return jobs_; }
    [[nodiscard]] SubscriberQueueTable& subscriber_queues() noexcept { return subscriber_queues_; }
    [[nodiscard]] Registry& registry() noexcept { return registry_; }
    [[nodiscard]] RecurringTable& recurring() noexcept { return recurring_; }
    [[nodiscard]] TimerTable& timers() noexcept { return timers_; }
    /// The tables of all entities with a name.
    [[nodiscard]] auto named_tables() noexcept {
        return std::tuple_cat(
            registry_.tables(),
            std::tie(jobs_.sequences(), jobs_.kept_keys().table(), jobs_.idempotency_keys().table(),
                     jobs_.paused(), jobs_.limited(), recurring_.table(), jobs_.batches().table(),
                     jobs_.batches().numbers()));
    }

    /// Links all restored entities to each other. To be called after every table was restored.
    void settle_restored();
    void mark_restored();

private:
    static Error invalid(const char* text) { return {Errc::invalid, text}; }

    /// Performs a step. The specialisations are in steps/, by domain. A step without a
    /// specialisation does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    /// Performs a step whose type is in the list. Only code in steps/ may call it, because the
    /// specialisations are declared there.
    template <class S, class... Rest>
    Outcome apply_one_of(StepList<S, Rest...>, Step& step);

    // Perform a step of one domain. Defined in steps/.
    Outcome perform_in(TopicSteps, Step& step);
    Outcome perform_in(SubscriberSteps, Step& step);
    Outcome perform_in(TokenSteps, Step& step);
    Outcome perform_in(JobSteps, Step& step);
    Outcome perform_in(JobListSteps, Step& step);
    Outcome perform_in(QueueSteps, Step& step);
    Outcome perform_in(RecurringSteps, Step& step);
    Outcome perform_in(WorkerSteps, Step& step);
    Outcome perform_in(DeliverySteps, Step& step);
    Outcome perform_in(BatchSteps, Step& step);
    Outcome perform_in(DeadBatchSteps, Step& step);
    Outcome perform_in(CapacitySteps, Step& step);
    Outcome perform_in(CounterSteps, Step& step);
    Outcome perform_in(TimerSteps, Step& step);
    Outcome perform_in(TimerFiringSteps, Step& step);
    Outcome perform_in(DeadTimerSteps, Step& step);
    Outcome perform_in(CompletionSteps, Step& step);
    Outcome perform_in(JobBatchSteps, Step& step);
    Outcome perform_in(ThroughputSteps, Step& step);

    // --- Topics and events ----------------------------------------------------------------------

    [[nodiscard]] bool is_valid_token(const std::optional<std::string>& token);
    /// The publisher that owns a topic. Null if the topic has no owner or does not exist.
    [[nodiscard]] static const std::string* owner_of(const TopicState* topic);
    /// An error when an event may not be published in a topic with this owner. `further` is the
    /// number of topics that earlier events of the same step will claim for the publisher.
    [[nodiscard]] Result<void> may_publish(const PublishEvent& step, const std::string* owner,
                                           std::uint32_t further = 0);
    /// Publishes an event that passed `may_publish`. `topic` is null if the topic does not exist
    /// yet.
    void publish(const PublishEvent& step, TopicState* topic);
    void fan_out(const std::vector<SubscriberState*>& subscribers, const PublishEvent& step);
    void seal_full(BatchState& batch);
    void count_published(TopicState& topic, std::size_t bytes);

    // --- Jobs -----------------------------------------------------------------------------------

    /// Pushes a job. Ignores the idempotency key, which the caller has checked.
    Result<Pushed> push(const PushJob& step);
    Result<Pushed> push_with_key(const PushJob& step);
    /// Pushes a job without a key into a queue without an equal job.
    Pushed push_new(QueueState& queue, const PushJob& step, std::uint32_t hash);
    /// An error when the queue does not exist and the limit of queues is reached.
    [[nodiscard]] Result<void> may_open_queue(const std::string& name);
    [[nodiscard]] Error too_many_queues() const;
    /// An error when the timer namespace does not exist and the limit of namespaces is reached.
    [[nodiscard]] Result<void> may_open_timers(const std::string& space) const;
    [[nodiscard]] Error too_many_timer_namespaces() const;
    /// An error when one of the pushes may not join its batch or create its queue.
    [[nodiscard]] Result<void> may_push_all(const std::vector<PushJob>& pushes);
    /// An error when one of the timers may not create its namespace.
    [[nodiscard]] Result<void> may_post_all(const std::vector<PostTimer>& timers) const;
    /// An error when one of the events may not be published, in this order.
    [[nodiscard]] Result<void> may_publish_all(const std::vector<PublishEvent>& publications);
    /// Perform the follow-ups of a completed job or timer; see steps/completion.cpp.
    std::vector<Pushed> push_all(const std::vector<PushJob>& pushes, EqualJobs& equal);
    void publish_all(const std::vector<PublishEvent>& publications);
    std::vector<TimerPosted> post_all(const std::vector<PostTimer>& timers);

    // --- Subscribers ----------------------------------------------------------------------------

    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics);

    /// Removes a subscriber. Its batches are removed one at a time afterwards, whatever its
    /// concurrency was.
    void remove(SubscriberState& subscriber);

    // --- Deliveries -----------------------------------------------------------------------------

    /// The batch that a job delivers. Null if the job is not a delivery job, or is a copy of a
    /// delivery job in another queue.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const;

    [[nodiscard]] static bool awaits_seal(const Subscription& wants);
    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages);
    void count_begun(BatchState& batch, const Subscription& wants);

    /// How long a delivery to an unhealthy subscriber must be delayed.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const;

    /// Limits the group to the capacity of the workers. True when earlier deliveries of the group
    /// already use this capacity, and the job is no longer eligible.
    bool at_limit(JobState& job, const BeginDelivery& step);

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists);

    /// Whether the batch becomes DEAD after this failure.
    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const;

    /// Adjusts a subscriber's health. Records a failure even at the lowest health, because the time
    /// of the attempt changes.
    void change_health(SubscriberState& subscriber, const SettleDelivery& step);

    void count_attempt(const BatchState& batch, const SettleDelivery& step);
    void count_delivery(const BatchState& batch, SubscriberQueueCounter batches,
                        SubscriberQueueCounter events);
    static const std::string& token_of(const BatchState& batch) {
        return batch.subscriber_queue.group.name;
    }

    // --- Queued batches -------------------------------------------------------------------------

    /// The queued batch of this subscriber with this id, or null.
    [[nodiscard]] BatchState* queued(const std::string& token, const Uid& uid) const;
    [[nodiscard]] QueuedBatch queued_status(const BatchState& batch) const;

    // --- DEAD batches ---------------------------------------------------------------------------

    /// The DEAD batch of this subscriber with this id, or null.
    [[nodiscard]] BatchState* dead(const std::string& token, const Uid& uid) const;

    /// Calls `act` with the DEAD batch `uid` of a subscriber. Without `uid`, calls `act` with all
    /// DEAD batches of the subscriber, oldest death first, at most `dead_moved_max`. `act` may
    /// remove the batch.
    template <class Act>
    void each_dead(const std::string& token, const std::optional<Uid>& uid, Act act);

    static DeadBatchStatus status(const BatchState& batch);

    // --- All domains ----------------------------------------------------------------------------

    void depend_on(const Entity& entity) {
        depends_on_row_ = std::max(depends_on_row_, entity.last_row);
    }

    ChangeLog& changes_;
    const NameLimits limits_;
    CounterTable counters_;
    JobTable jobs_;
    SubscriberQueueTable subscriber_queues_;
    Registry registry_;
    RecurringTable recurring_;
    TimerTable timers_;
    TimePoint now_{};
    std::uint64_t depends_on_row_ = 0;
    bool hurried_ = true;
};

// Declared here because the ticks of recurring jobs push jobs, too.
template <>
Result<PushJob::Reply> Machine::apply(PushJob& step);

/// References to the tables of all entities with a name.
using NamedTables = decltype(std::declval<Machine&>().named_tables());

}  // namespace routemaster::detail
