/// @file
/// The state machine: what each step does. Single writer, no clock, no randomness, no I/O. It is
/// the readable specification of the steps, and what other stores are compared with.

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

/// The whole state of a bus, and the steps upon it. Not thread safe: its store serialises.
class Machine {
public:
    /// Everything that was ever changed, as a value of `depends_on_row`.
    static constexpr std::uint64_t everything = UINT64_MAX;

    /// `changes` must outlive it.
    explicit Machine(ChangeLog& changes, NameLimits limits = {});

    Outcome perform(Step& step, TimePoint now);

    /// Steps that `fetch_ahead` looks at.
    static constexpr std::size_t ahead_max = prefetched_max;
    /// The first of these steps are about to be performed. Of a large state, most of what a step
    /// looks at is in no cache, and to load it takes longer than the step: this starts to load what
    /// all of them look at, at once. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// The newest journal row that the last outcome depends on, apart from the row of what the step
    /// changed. It must be durable before the outcome is reported.
    [[nodiscard]] std::uint64_t depends_on_row() const noexcept { return depends_on_row_; }
    /// Whether anybody waits for the last outcome to be on disk. If not, it may be written together
    /// with what comes next.
    [[nodiscard]] bool hurried() const noexcept { return hurried_; }

    [[nodiscard]] CounterTable& counters() noexcept { return counters_; }
    [[nodiscard]] JobTable& jobs() noexcept { return jobs_; }
    [[nodiscard]] SubscriberQueueTable& subscriber_queues() noexcept { return subscriber_queues_; }
    [[nodiscard]] Registry& registry() noexcept { return registry_; }
    [[nodiscard]] RecurringTable& recurring() noexcept { return recurring_; }
    [[nodiscard]] TimerTable& timers() noexcept { return timers_; }
    /// The tables of all entities that have a name.
    [[nodiscard]] auto named_tables() noexcept {
        return std::tuple_cat(
            registry_.tables(),
            std::tie(jobs_.sequences(), jobs_.kept_keys().table(), jobs_.idempotency_keys().table(),
                     jobs_.paused(), jobs_.limited(), recurring_.table(), jobs_.batches().table(),
                     jobs_.batches().numbers()));
    }

    /// Connects everything that was restored part by part.
    void settle_restored();
    /// Notes that the batches come from a journal.
    void mark_restored();

private:
    static Error invalid(const char* text) { return {Errc::invalid, text}; }

    /// What a step of each kind does. The specialisations stand in steps/, by domain; a step
    /// without one does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    /// Applies a step that is one of `S`. For steps/ alone, where `apply` is known for them.
    template <class S, class... Rest>
    Outcome apply_one_of(StepList<S, Rest...>, Step& step);

    // What to do with a step of each domain; each is in steps/.
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
    /// Whom a topic belongs to; null: to nobody, or there is none.
    [[nodiscard]] static const std::string* owner_of(const TopicState* topic);
    /// Why an event may not be published in a topic of that owner, if so. Its publisher is about to
    /// own so many `further` topics.
    [[nodiscard]] Result<void> may_publish(const PublishEvent& step, const std::string* owner,
                                           std::uint32_t further = 0);
    /// Publishes an event that may be published. `topic`: null if there is none.
    void publish(const PublishEvent& step, TopicState* topic);
    void fan_out(const std::vector<SubscriberState*>& subscribers, const PublishEvent& step);
    void seal_full(BatchState& batch);
    void count_published(TopicState& topic, std::size_t bytes);

    // --- Jobs -----------------------------------------------------------------------------------

    /// Pushes a job, whatever its idempotency key is.
    Result<Pushed> push(const PushJob& step);
    Result<Pushed> push_with_key(const PushJob& step);
    /// Pushes a job without a key into a queue that has none like it.
    Pushed push_new(QueueState& queue, const PushJob& step, std::uint32_t hash);
    /// Why a step may not begin a queue, if there is none of that name and they are too many.
    [[nodiscard]] Result<void> may_open_queue(const std::string& name);
    [[nodiscard]] Error too_many_queues() const;
    /// The same of a namespace of timers.
    [[nodiscard]] Result<void> may_open_timers(const std::string& space) const;
    [[nodiscard]] Error too_many_timer_namespaces() const;
    /// Why the first of some pushes may not join its batch, or begin its queue, if so.
    [[nodiscard]] Result<void> may_push_all(const std::vector<PushJob>& pushes);
    /// Why the first of some timers may not begin its namespace, if so.
    [[nodiscard]] Result<void> may_post_all(const std::vector<PostTimer>& timers) const;
    /// Why the first of some events may not be published, one after the other, if so.
    [[nodiscard]] Result<void> may_publish_all(const std::vector<PublishEvent>& publications);
    /// What follows from something: see steps/completion.cpp.
    std::vector<Pushed> push_all(const std::vector<PushJob>& pushes, EqualJobs& equal);
    void publish_all(const std::vector<PublishEvent>& publications);
    std::vector<TimerPosted> post_all(const std::vector<PostTimer>& timers);

    // --- Subscribers ----------------------------------------------------------------------------

    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics);

    /// Its batches end one after the other, whatever it had asked for.
    void remove(SubscriberState& subscriber);

    // --- Deliveries -----------------------------------------------------------------------------

    /// The batch that ends with a job; null for other jobs, a copy in another queue among them.
    [[nodiscard]] BatchState* delivered_by(const JobState& job) const;

    [[nodiscard]] static bool awaits_seal(const Subscription& wants);
    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages);
    void count_begun(BatchState& batch, const Subscription& wants);

    /// How long the subscriber is still to be spared.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const;

    /// Whether others of its group have all the deliveries that the group may have.
    bool at_limit(JobState& job, const BeginDelivery& step);

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists);

    /// Whether the failure of an attempt is the last of its batch.
    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const;

    /// Records a failure even when there is no health left to lose: the time of the attempt counts.
    void change_health(SubscriberState& subscriber, const SettleDelivery& step);

    void count_attempt(const BatchState& batch, const SettleDelivery& step);
    void count_delivery(const BatchState& batch, SubscriberQueueCounter batches,
                        SubscriberQueueCounter events);
    static const std::string& token_of(const BatchState& batch) {
        return batch.subscriber_queue.group.name;
    }

    // --- Queued batches -------------------------------------------------------------------------

    /// The queued batch of that subscriber and id; null when there is none.
    [[nodiscard]] BatchState* queued(const std::string& token, const Uid& uid) const;
    [[nodiscard]] QueuedBatch queued_status(const BatchState& batch) const;

    // --- DEAD batches ---------------------------------------------------------------------------

    /// The DEAD batch of that subscriber and id; null when there is none.
    [[nodiscard]] BatchState* dead(const std::string& token, const Uid& uid) const;

    /// Calls `act`, which may end it, with the DEAD batch that is named, or with all of the
    /// subscriber, in the order they died, at most `dead_moved_max`.
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

/// References to the tables of all kinds of entities that have a name.
using NamedTables = decltype(std::declval<Machine&>().named_tables());

}  // namespace routemaster::detail
