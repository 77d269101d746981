/// @file
/// Steps: the atomic things that can be done to a store, as values.
///
/// A step can be batched with others, pipelined, recorded, forwarded, generated at random and
/// compared between two stores. Each says what it does, what its reply means, and what repeating
/// it does, which matters when a reply was lost (`timed_out`). All times come from outside.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"
#include "routemaster/topic.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

// --- Replies that several steps share -----------------------------------------------------------

/// The step was done; there is nothing else to tell.
struct Done {
    friend bool operator==(Done, Done) = default;
};

/// What became of a removal.
enum class Removal {
    removed,
    unknown,  ///< There was no such thing; nothing was changed.
};

/// What became of an attempt to settle a job.
enum class Settlement {
    settled,
    lease_lost,  ///< The worker was taken for dead and the job handed on; nothing was changed.
    dead,        ///< Settled, and its batch is DEAD now. `SettleDelivery` alone answers it.
};

/// A number of things, named by the step.
struct Count {
    std::uint64_t value = 0;
    friend bool operator==(Count, Count) = default;
};

/// What was dropped.
struct Dropped {
    std::uint64_t batches = 0;
    std::uint64_t events = 0;
    friend bool operator==(Dropped, Dropped) = default;
};

/// Which part of a long list to tell: entries whose key is greater than `after`, at most `limit`.
struct Page {
    std::string after{};          ///< Empty: from the beginning.
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
};

// --- Topics and events --------------------------------------------------------------------------

/// Takes in one event for all subscribers of its topic.
///
/// Creates the topic when it is new, and claims it for `publisher` when it is unclaimed. Appends
/// the message to the CURRENT batch of each subscriber, beginning one where there is none together
/// with its delivery job, which falls due at min(timestamp, now) + the subscriber's timeout. A
/// batch that is thereby full is sealed, and its job is READY.
/// Counts `events.published`, `events.bytes` and, for each subscriber, `events.added`.
/// In this order: `unauthenticated` when it is to authenticate `publisher` and that is no valid
/// token; `forbidden` when the topic belongs to another publisher; `limit_exceeded` when it would
/// be one too many of `publisher`. Repeating it publishes the event a second time.
struct PublishEvent {
    using Reply = Done;
    std::string topic;  ///< Must satisfy `is_topic_name`, else `invalid`.
    /// Who publishes. Nobody: the topic is not claimed, and must be unclaimed.
    std::optional<std::string> publisher;
    std::string message;  ///< The encoded event.
    TimePoint timestamp;  ///< When it happened.
    Uid uid;              ///< Fresh; batches that begin are named by its siblings.
    /// Topics that may belong to `publisher`: a further one is not claimed.
    std::uint32_t topics_max = UINT32_MAX;
    /// Whether `publisher` must be a valid token at this moment; see `PutToken`. Nobody is none.
    bool authenticate = false;
};

/// Forgets a topic and its subscriptions. Events already in batches are delivered all the same.
/// `forbidden` for a publisher whose topic it is not. Repeating a removal that succeeded answers
/// `unknown`.
struct RemoveTopic {
    using Reply = Removal;
    std::string name;
    std::optional<std::string> publisher;  ///< Who asks; nobody stands for the operator.
};

/// Tells the topics, by name.
struct ListTopics {
    using Reply = std::vector<Topic>;
    Page page{};
};

// --- Subscribers --------------------------------------------------------------------------------

/// Creates or changes a subscriber. Its topics become exactly `topics`; unknown ones are created
/// unclaimed, and forgotten with their last subscription if nobody published in them by then.
/// Batches already queued are kept, and follow the new settings.
/// Bad names or numbers answer `invalid` and change nothing. Repeating it changes nothing more.
struct Subscribe {
    using Reply = Done;
    std::string token;  ///< Must satisfy `is_user_name`.
    std::vector<std::string> topics;
    SubscribeOptions options;
};

/// What became of an unsubscription.
enum class Unsubscription {
    unsubscribed,
    unknown_subscriber,
    unknown_topic,
    not_subscribed,
};

/// Ends one subscription. Events already in batches are delivered all the same.
/// Repeating one that succeeded answers `not_subscribed`.
struct Unsubscribe {
    using Reply = Unsubscription;
    std::string token;
    std::string topic;
};

/// Forgets a subscriber and its subscriptions, and drops its DEAD batches, which counts
/// `events.dead_dropped`. Its other batches end, undelivered, when they fall due, unless it has
/// subscribed again by then. Repeating it answers `unknown`.
struct RemoveSubscriber {
    using Reply = Removal;
    std::string token;
};

/// Tells the subscribers, by token.
struct ListSubscribers {
    using Reply = std::vector<SubscriberStatus>;
    Page page{};
};

/// Tells one subscriber; nothing when there is none of that token.
struct FindSubscriber {
    using Reply = std::optional<SubscriberStatus>;
    std::string token;
};

/// Tells the batches that are queued for a subscriber, whether or not it still exists, in delivery
/// order, at most `limit`.
struct ListBatches {
    using Reply = std::vector<BatchStatus>;
    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
};

// --- API tokens ---------------------------------------------------------------------------------

/// A credential and whom it was given to.
struct ApiToken {
    std::string token;
    std::string name;
    friend bool operator==(const ApiToken&, const ApiToken&) = default;
};

/// Makes a token valid, or renames one that is. Repeating it changes nothing more.
struct PutToken {
    using Reply = Done;
    std::string token;  ///< Must satisfy `is_user_name`, else `invalid`.
    std::string name;   ///< Must satisfy `is_user_name`, else `invalid`.
};

/// Makes a token invalid and forgets the subscriber of that name, as `RemoveSubscriber` does.
/// Answers `unknown` when there is neither. Repeating it answers `unknown`.
struct RemoveToken {
    using Reply = Removal;
    std::string token;
};

/// Tells the name that a token was given to; nothing when it is not valid.
struct FindToken {
    using Reply = std::optional<std::string>;
    std::string token;
};

/// Tells the valid tokens, by token.
struct ListTokens {
    using Reply = std::vector<ApiToken>;
    Page page{};
};

// --- Jobs ---------------------------------------------------------------------------------------

/// What became of a push.
enum class PushOutcome {
    pushed,
    duplicate,  ///< An equal job is in the queue, in whatever state; nothing was changed.
};

/// Puts a job into a queue. READY when `run_at` is not after `now`, else SCHEDULED.
/// Repeating it answers `duplicate` for as long as the job exists.
struct PushJob {
    using Reply = PushOutcome;
    std::string queue;  ///< 1 to 64 characters, else `invalid`.
    std::string job;    ///< Encoded; its bytes are its identity. Not empty, else `invalid`.
    TimePoint run_at;
};

/// What `AcquireJobs` got.
struct Acquired {
    std::vector<Lease> leases;
    /// When the next scheduled job of the queue falls due, `never` when none waits. A job that is
    /// READY now and was left because of `limit` makes it `now`.
    TimePoint next_due = never;
    friend bool operator==(const Acquired&, const Acquired&) = default;
};

/// Promotes what is due, then gives the longest READY jobs to a worker: they become PENDING.
/// Also counts as a heartbeat of the worker. A worker may hold many jobs.
/// When the reply is lost, the worker gets the same leases with its next acquisition, before any
/// new ones, if it says which it knows; else they stay until it is scrubbed or retires.
struct AcquireJobs {
    using Reply = Acquired;
    std::string queue;
    Uid worker;
    std::uint32_t limit = 1;  ///< At least 1, else `invalid`.
    /// The greatest fence the worker was told of, 0 before the first. Leases beyond it are told
    /// again, even more than `limit`. By default none is.
    std::uint64_t known = UINT64_MAX;
};

/// Forgets a job that was done.
/// Repeating an ack that succeeded answers `lease_lost`.
struct AckJob {
    using Reply = Settlement;
    Lease lease;
};

/// Gives a job back, to run again at `run_at`. It keeps its place in the order of its lane.
/// Repeating a nack that succeeded answers `lease_lost`.
struct NackJob {
    using Reply = Settlement;
    Lease lease;
    TimePoint run_at;
};

/// Says that a worker is alive. Repeating it is harmless.
struct Heartbeat {
    using Reply = Done;
    Uid worker;
};

/// Jobs that one `RetireWorker` or `ScrubWorkers` gives back at most.
inline constexpr std::uint64_t given_back_max = 1'000;

/// Gives back at once what a worker holds, oldest first, and forgets the worker: its clean end.
/// Replies the number of jobs given back. When that is `given_back_max`, there may be more, and the
/// worker is still known: do it again. Repeating it answers 0 once nothing was left.
struct RetireWorker {
    using Reply = Count;
    Uid worker;
};

/// Takes every worker for dead that has not been heard of for `silence` or longer, gives back what
/// it held in any queue, as READY, and forgets it. Replies the number of jobs given back, each
/// counted in `jobs.scrubbed`, and each worker that was forgotten in `workers.scrubbed`. When that
/// is `given_back_max`, there may be more to do. Repeating it is harmless.
struct ScrubWorkers {
    using Reply = Count;
    Duration silence;
};

/// Tells how many jobs a queue holds in which state.
struct CountJobs {
    using Reply = QueueStatus;
    std::string queue;
};

// --- Deliveries ---------------------------------------------------------------------------------

/// The queue of delivery jobs. A delivery job is `["batch", [uid]]`.
inline constexpr const char* delivery_queue = "main";

/// What to do about a delivery job.
enum class Verdict {
    deliver,     ///< Hand the batch over, then `SettleDelivery`.
    throttled,   ///< The subscriber is being spared; the job was given back.
    crowded,     ///< The subscriber has its share of deliveries; the job waits in its lane.
    vanished,    ///< Batch or subscriber are gone; the batch was removed and the job is done.
    lease_lost,  ///< The job was handed on; nothing was changed.
};

/// How a delivery begins.
struct DeliveryStart {
    Verdict verdict = Verdict::lease_lost;
    Subscription subscription{};  ///< Set when `deliver`.
    int health_points = 100;      ///< Set when `deliver`.
    Uid batch{};                  ///< Set when `deliver`.
    TimePoint created_at{};       ///< Set when `deliver`: the batch's beginning.
    std::uint32_t attempt = 0;    ///< Set when `deliver`: 1 for the first.
    MessageList messages{};       ///< Set when `deliver`.
    friend bool operator==(const DeliveryStart&, const DeliveryStart&) = default;
};

/// Begins the delivery of the batch that a leased delivery job names.
///
/// A subscriber whose health is below its maximum is throttled when its last attempt is less than
/// `health_backoff` ago: the job is then given back for that wait, lengthened by `jitter`, the
/// attempt counts as throttled, and a CURRENT batch goes on taking events.
/// Else, a lane of which more than `lane_max` jobs may be under way is narrowed to `lane_max`. A
/// batch that is not among the first of its lane any more is not begun: its job is given back and
/// waits for those before it, and a CURRENT batch goes on taking events. Settlements widen the lane
/// again. Whatever `lane_max`, the first of a lane may begin. A store that is shared with workers
/// of the original, who know no lanes, narrows none. Every lane begins with 16 at most.
/// Otherwise seals the batch when it is CURRENT, counts an attempt, and notes `now` as the
/// subscriber's last one.
/// Repeating it counts one attempt more. A job that is no delivery job answers `invalid`.
struct BeginDelivery {
    using Reply = DeliveryStart;
    Lease lease;
    Duration backoff_max;
    double jitter = 0;                    ///< In [0, 0.5).
    std::uint32_t lane_max = UINT32_MAX;  ///< 0 counts as 1.
    /// A subscriber whose health is below its maximum is throttled for this long at least, however
    /// long ago its last attempt is.
    Duration pause{0};
};

/// Ends a delivery, in one step with its job.
///
/// Success removes the batch and acknowledges the job; failure gives the job back until `retry_at`.
/// A failure is the last one of its batch when the subscriber still exists, `dead_letters()`, and
/// either the failure is permanent, or the batch has come to `attempts_max` or `age_max`: the batch
/// is then DEAD, its job gone, and the next of the lane goes out. It keeps its messages, counts
/// `batches.dead`, `events.dead` and `events.removed`, and those that died first are dropped beyond
/// `dead_max`, at most `dead_moved_max` in one step, which counts `events.dead_dropped`.
/// Either changes the health of the subscriber by `health_change`, if it still exists, and counts
/// `delivery.events`, `.batches`, `.time`, `.time2`, and `latency.batches.*`. Success makes a lane
/// one wider, up to what its subscriber asked; failure two narrower, down to 16, or one wider below
/// 16. It becomes no wider than `lane_max`, and one that is wider is narrowed to that.
/// Repeating one that succeeded answers `lease_lost`.
struct SettleDelivery {
    using Reply = Settlement;
    Lease lease;
    bool delivered = false;
    int health_change = 0;
    TimePoint begun_at;                   ///< When the attempt began.
    TimePoint retry_at{};                 ///< Read when it was not delivered.
    std::uint32_t lane_max = UINT32_MAX;  ///< 0 counts as 1.
    bool permanent = false;  ///< Read when it was not delivered: no further attempt will succeed.
    /// Likewise: why not. A DEAD batch keeps the first `dead_error_max` bytes.
    std::string error{};
};

// --- DEAD batches -------------------------------------------------------------------------------

/// DEAD batches that one step redelivers or drops at most.
inline constexpr std::uint32_t dead_moved_max = 1'000;

/// Tells the DEAD batches of a subscriber, those that died first at the front, at most `limit`.
struct ListDeadBatches {
    using Reply = std::vector<DeadBatchStatus>;
    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
};

/// Tells a DEAD batch of a subscriber whole; nothing when it has none of that id.
struct FindDeadBatch {
    using Reply = std::optional<DeadMessages>;
    std::string token;
    Uid batch;
};

/// Puts DEAD batches of a subscriber back: each is READY at the end of the lane, as if it began
/// now, with its id, its messages and no attempts. All of them, if none is named, in the order they
/// died. Replies how many; when that is `dead_moved_max`, there may be more to do. A batch whose
/// delivery job somebody pushed by hand is passed over while that exists.
/// Counts `events.redelivered` and `events.added`. Repeating it finds nothing to put back, unless
/// they died again.
struct RedeliverDeadBatches {
    using Reply = Count;
    std::string token;
    std::optional<Uid> batch{};
};

/// Drops DEAD batches of a subscriber: all of them, if none is named. Replies what was dropped;
/// when that is `dead_moved_max` batches, there may be more to do.
/// Counts `events.dead_dropped`. Repeating it drops what died meanwhile.
struct DropDeadBatches {
    using Reply = Dropped;
    std::string token;
    std::optional<Uid> batch{};
};

// --- Room ---------------------------------------------------------------------------------------

/// How much room the store takes.
struct StoreUse {
    std::uint64_t bytes = 0;  ///< In memory. What counts is for the store to say.
    friend bool operator==(StoreUse, StoreUse) = default;
};

/// Tells how much room the store takes.
struct MeasureUse {
    using Reply = StoreUse;
};

/// Ends the oldest batches, whoever they are for, and their delivery jobs with them: the last
/// resort when there is no room left. First the DEAD ones, in the order they died; batches under
/// delivery are passed over.
/// Counts `events.autodropped` for each subscriber, and `events.removed`, or `events.dead_dropped`
/// of those that were DEAD. Repeating it drops more.
struct DropOldestBatches {
    using Reply = Dropped;
    std::uint32_t limit = 100;  ///< Batches to drop at most. At least 1, else `invalid`.
};

// --- Counters -----------------------------------------------------------------------------------

/// Adds to counters. Repeating it adds again.
struct AddToCounters {
    using Reply = Done;
    std::vector<Counter> increments;
};

/// Tells the counters, in the order of the bytes of `encode_counter_key`, which makes up the page's
/// `after`.
struct ListCounters {
    using Reply = std::vector<Counter>;
    Page page{};
};

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
