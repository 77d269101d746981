/// @file
/// `DeliveryDomain`: the attempts to deliver batches, and the queued and DEAD batches.

#pragma once

#include <optional>
#include <string>

#include "core/bus/state/registry.hpp"
#include "core/bus/state/subscriber_queues.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/state/entity.hpp"
#include "core/state/step_scope.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs the steps on batches of events: attempts to
/// deliver them, and changes of queued and DEAD batches. Not thread safe.
class DeliveryDomain {
public:
    DeliveryDomain(StepScope& scope, ChangeLog& changes, Registry& registry,
                   SubscriberQueueTable& subscriber_queues, JobTable& jobs)
        : scope_{scope},
          changes_{changes},
          registry_{registry},
          subscriber_queues_{subscriber_queues},
          jobs_{jobs} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(DeliverySteps steps, Step& step);
    Outcome perform(BatchSteps steps, Step& step);
    Outcome perform(DeadBatchSteps steps, Step& step);
    Outcome perform(CapacitySteps steps, Step& step);

    /// Marks all batches as restored from a journal. To be called after every table was restored.
    void mark_restored();

private:
    // --- Attempts -------------------------------------------------------------------------------

    [[nodiscard]] static bool awaits_seal(const Subscription& wants);
    DeliveryStart begin(BatchState& batch, SubscriberState& subscriber, MessageList messages);
    void count_begun(BatchState& batch, const Subscription& wants);

    /// How long a delivery to an unhealthy subscriber must be delayed.
    [[nodiscard]] Duration throttle(const SubscriberState& subscriber,
                                    const BeginDelivery& step) const;

    /// Limits the ordering group of a delivery job to the capacity of the workers. True when
    /// earlier deliveries of the group already use this capacity, and the job is no longer
    /// eligible.
    bool at_limit(JobState& job, const BeginDelivery& step);

    void end_vanished(JobState& job, BatchState* batch, bool subscriber_exists);

    [[nodiscard]] bool dies(const BatchState& batch, const Subscription& wants,
                            const SettleDelivery& step) const;

    /// Adjusts a subscriber's health. Records a failure even at the lowest health, because the time
    /// of the attempt changes.
    void change_health(SubscriberState& subscriber, const SettleDelivery& step);

    void count_attempt(const BatchState& batch, const SettleDelivery& step);
    void count_delivery(const BatchState& batch, SubscriberQueueCounter batches,
                        SubscriberQueueCounter events);

    // --- Queued batches -------------------------------------------------------------------------

    [[nodiscard]] BatchState* queued(const std::string& token, const Uid& uid) const;
    [[nodiscard]] QueuedBatch queued_status(const BatchState& batch) const;

    // --- DEAD batches ---------------------------------------------------------------------------

    [[nodiscard]] BatchState* dead(const std::string& token, const Uid& uid) const;

    /// Calls `act` with the DEAD batch `uid` of a subscriber. Without `uid`, calls `act` with all
    /// DEAD batches of the subscriber, oldest death first, at most `dead_moved_max`. `act` may
    /// remove the batch.
    template <class Act>
    void each_dead(const std::string& token, const std::optional<Uid>& uid, Act act);

    static DeadBatchStatus status(const BatchState& batch);

    static const std::string& token_of(const BatchState& batch) {
        return batch.subscriber_queue.group.name;
    }

    StepScope& scope_;
    ChangeLog& changes_;
    Registry& registry_;
    SubscriberQueueTable& subscriber_queues_;
    JobTable& jobs_;
};

}  // namespace routemaster::detail
