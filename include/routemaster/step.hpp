/// @file
/// Steps: the atomic things that can be done to a store, as values.
///
/// A step can be batched with others, pipelined, recorded, forwarded, generated at random and
/// compared between two stores. Each says what it does, what its reply means, and what repeating
/// it does, which matters when a reply was lost (`timed_out`). All times come from outside.

#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step/capacity.hpp"
#include "routemaster/step/counters.hpp"
#include "routemaster/step/dead_batches.hpp"
#include "routemaster/step/deliveries.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/subscribers.hpp"
#include "routemaster/step/tokens.hpp"
#include "routemaster/step/topics.hpp"

namespace routemaster {

// --- Repeating ----------------------------------------------------------------------------------

/// Whether a step whose reply was lost may simply be done again: what it says of repeating it is
/// then all that can come of it.
template <class S>
inline constexpr bool repeatable = true;
template <>
inline constexpr bool repeatable<PublishEvent> = false;
template <>
inline constexpr bool repeatable<AddToCounters> = false;
template <>
inline constexpr bool repeatable<DropOldestBatches> = false;

// --- The sum of it ------------------------------------------------------------------------------

/// Any step.
using Step =
    std::variant<PublishEvent, RemoveTopic, ListTopics, Subscribe, Unsubscribe, RemoveSubscriber,
                 ListSubscribers, FindSubscriber, ListBatches, PutToken, RemoveToken, FindToken,
                 ListTokens, PushJob, AcquireJobs, AckJob, NackJob, Heartbeat, RetireWorker,
                 ScrubWorkers, CountJobs, BeginDelivery, SettleDelivery, ListDeadBatches,
                 FindDeadBatch, RedeliverDeadBatches, DropDeadBatches, MeasureUse,
                 DropOldestBatches, AddToCounters, ListCounters>;

/// Any reply.
using Reply = std::variant<Done, Removal, Settlement, Count, Unsubscription, PushOutcome, Acquired,
                           QueueStatus, DeliveryStart, StoreUse, Dropped, std::vector<Topic>,
                           std::vector<SubscriberStatus>, std::optional<SubscriberStatus>,
                           std::vector<BatchStatus>, std::vector<DeadBatchStatus>,
                           std::optional<DeadMessages>, std::optional<std::string>,
                           std::vector<ApiToken>, std::vector<Counter>>;

/// What a step came to: its reply, or why it was not done.
using Outcome = Result<Reply>;

}  // namespace routemaster
