/// @file
/// The state machine: the effects of each step. Single writer, no clock, no randomness, no I/O.
/// This is the readable specification of the steps, and the reference for tests of all stores.

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

#include "core/containers/prefetch.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/jobs.hpp"
#include "core/state/name_limits.hpp"
#include "core/state/recurring.hpp"
#include "core/state/registry.hpp"
#include "core/state/subscriber_queues.hpp"
#include "core/state/timers.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

class EqualJobs;

/// The whole state of a bus, and the steps upon it. Not thread safe: its store serialises calls.
class Machine {
public:
    /// All changes so far, as a value of `depends_on_row`.
    static constexpr std::uint64_t everything = UINT64_MAX;

    /// `changes` must outlive the machine.
    explicit Machine(ChangeLog& changes, NameLimits limits = {});

    Outcome perform(Step& step, TimePoint now);

    /// How many steps `fetch_ahead` examines.
    static constexpr std::size_t ahead_max = prefetched_max;
    /// Called before these steps are performed. In a large state, most data of a step is in no
    /// cache, and loading takes longer than the step. Starts to load the data of the first
    /// `ahead_max` steps at once. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// The newest journal row whose content the last outcome reveals, apart from the changes of the
    /// step itself. The row must be durable before the outcome is reported.
    [[nodiscard]] std::uint64_t depends_on_row() const noexcept { return depends_on_row_; }
    /// Whether a caller waits for the last outcome to be on disk. If not, its record may be written
    /// together with later records.
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

    /// Connects all restored parts.
    void settle_restored();
    /// Marks all batches as restored from a journal.
    void mark_restored();

private:
    static Error invalid(const char* text) { return {Errc::invalid, text}; }

    /// The effects of a step. The specialisations are in steps/, by domain. A step without a
    /// specialisation does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    /// Applies a step whose type is in the list. For steps/ only, where the specialisations are
    /// known.
    template <class S, class... Rest>
    Outcome apply_one_of(StepList<S, Rest...>, Step& step);

    // Perform a step of one domain; defined in steps/.
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
    /// The publisher who owns a topic; null for a topic without an owner, or no topic.
    [[nodiscard]] static const std::string* owner_of(const TopicState* topic);
    /// An error when an event may not be published in a topic with this owner. `further` is the
    /// number of topics its publisher will have claimed before.
    [[nodiscard]] Result<void> may_publish(const PublishEvent& step, const std::string* owner,
                                           std::uint32_t further = 0);
    /// Publishes an event after `may_publish`. `topic`: null if missing.
    void publish(const PublishEvent& step, TopicState* topic);
    void fan_out(const std::vector<SubscriberState*>& subscribers, const PublishEvent& step);
    void seal_full(BatchState& batch);
    void count_published(TopicState& topic, std::size_t bytes);

    // --- Jobs -----------------------------------------------------------------------------------

    /// Pushes a job and ignores its idempotency key.
    Result<Pushed> push(const PushJob& step);
    Result<Pushed> push_with_key(const PushJob& step);
    /// Pushes a job without a key into a queue without an equal job.
    Pushed push_new(QueueState& queue, const PushJob& step, std::uint32_t hash);
    /// An error when the queue is new and there are too many queues.
    [[nodiscard]] Result<void> may_open_queue(const std::string& name);
    [[nodiscard]] Error too_many_queues() const;
    /// An error when the namespace of timers is new and there are too many namespaces.
    [[nodiscard]] Result<void> may_open_timers(const std::string& space) const;
    [[nodiscard]] Error too_many_timer_namespaces() const;
    /// An error when some push may not join its batch or create its queue.
    [[nodiscard]] Result<void> may_push_all(const std::vector<PushJob>& pushes);
    /// An error when some timer may not create its namespace.
    [[nodiscard]] Result<void> may_post_all(const std::vector<PostTimer>& timers) const;
    /// An error when some of these events may not be published in this order.
    [[nodiscard]] Result<void> may_publish_all(const std::vector<PublishEvent>& publications);
    /// Follow-ups of a completed job or timer: see steps/completion.cpp.
    std::vector<Pushed> push_all(const std::vector<PushJob>& pushes, EqualJobs& equal);
    void publish_all(const std::vector<PublishEvent>& publications);
    std::vector<TimerPosted> post_all(const std::vector<PostTimer>& timers);

    // --- Subscribers ----------------------------------------------------------------------------

    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics);

    /// Removes a subscriber. Its batches are then ended one at a time, whatever its concurrency
    /// was.
    void remove(SubscriberState& subscriber);

    // --- Deliveries -----------------------------------------------------------------------------

    /// The batch delivered by a job. Null for all jobs but delivery jobs, and for a copy of a
    /// delivery job in another queue.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const;

    [[nodiscard]] static bool awaits_seal(const Subscription& wants);
    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages);
    void count_begun(BatchState& batch, const Subscription& wants);

    /// How long a delivery must wait to spare an unhealthy subscriber.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const;

    /// Narrows the group to the capacity of the workers. True when earlier deliveries of the group
    /// use up this capacity, and the job is no longer eligible.
    bool at_limit(JobState& job, const BeginDelivery& step);

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists);

    /// Whether the batch is DEAD after this failure.
    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const;

    /// Records a failure even at the lowest health: the time of the attempt counts.
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

    /// Calls `act` with the DEAD batch named by `uid`, or with all DEAD batches of the subscriber,
    /// in the order of their deaths, at most `dead_moved_max`. `act` may end the batch.
    template <class Act>
    void each_dead(const std::string& token, const std::optional<Uid>& uid, Act act);

    static DeadBatchStatus status(const BatchState& batch);

    // --- All ------------------------------------------------------------------------------------

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

// Ticks of recurring jobs are pushes, too.
template <>
Result<PushJob::Reply> Machine::apply(PushJob& step);

/// References to the tables of all entities with a name.
using NamedTables = decltype(std::declval<Machine&>().named_tables());

}  // namespace routemaster::detail
