/// @file
/// Steps that begin and end the delivery of a batch.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/batch.hpp"
#include "routemaster/job.hpp"
#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Whether a delivery begins.
enum class Verdict {
    deliver,    ///< Deliver the batch, then perform `SettleDelivery`.
    throttled,  ///< The subscriber's health is low; the job was nacked.
    at_limit,  ///< The subscriber has its share of deliveries; the job waits in its ordering group.
    vanished,  ///< The batch or the subscriber is gone; the batch was removed and the job is done.
    lease_lost,  ///< The lease is lost; nothing was changed.
};

/// The reply to `BeginDelivery`.
struct DeliveryStart {
    Verdict verdict = Verdict::lease_lost;
    Subscription subscription{};  ///< Set when `deliver`.
    int health_points = 100;      ///< Set when `deliver`.
    Uid batch{};                  ///< Set when `deliver`.
    TimePoint created_at{};       ///< Set when `deliver`: when the batch began.
    std::uint32_t attempt = 0;    ///< Set when `deliver`: 1 for the first attempt.
    MessageList messages{};       ///< Set when `deliver`.
    friend bool operator==(const DeliveryStart&, const DeliveryStart&) = default;
};

/// Begins the delivery of the batch that a leased delivery job names: seals the batch if it is
/// CURRENT, counts an attempt, and notes `now` as the time of the subscriber's last attempt. A
/// repetition counts one more attempt. A job that is not a delivery job is `invalid`.
///
/// **Throttling.** A subscriber with a health below the maximum is throttled if its last attempt is
/// less than `health_backoff` ago. The job is then nacked: its wait is `health_backoff`, lengthened
/// by `jitter` and rounded by `retry_time`. The attempt counts as throttled, and a CURRENT batch
/// goes on taking events.
///
/// **Concurrency limit.** The limit of each ordering group begins at 16 at most. This step lowers
/// the limit to `concurrency_max`, if this is less; settlements raise the limit again. If the job
/// is not among the first of its group, up to the limit, then it is released, and waits for the
/// jobs before it; a CURRENT batch goes on taking events. The first job of a group may always
/// begin. A store shared with workers of Ruby Routemaster lowers no limit, because these workers do
/// not know ordering groups.
///
/// **Durability.** The reply waits until the events are on disk. In an embedded store, the reply
/// also waits for the record of the attempt if attempts are limited, if the subscriber's timeout is
/// 1 s or more and this is the first attempt, or if no earlier attempt may be on disk. Except for a
/// first attempt, the reply may come 50 ms later, to share the next commit. A crash forgets an
/// attempt that is not on disk, and its number is used again. Even after a crash, a batch id never
/// names two different batches: if the first attempt was not on disk, the CURRENT batch takes no
/// more events after the restart of an embedded store.
struct BeginDelivery {
    using Reply = DeliveryStart;
    static constexpr StepTraits traits{.name = "begin_delivery",
                                       .repeatable = true,
                                       .changes = Changes::progress,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
    Duration backoff_max;
    double jitter = 0;                           ///< In [0, 0.5).
    std::uint32_t concurrency_max = UINT32_MAX;  ///< 0 counts as 1.
    /// A subscriber with a health below the maximum is throttled for at least this long, however
    /// long ago its last attempt is.
    Duration pause{0};
};

/// Ends a delivery, and settles its job in this step. Success removes the batch and acknowledges
/// the job. Failure nacks the job until `retry_at`. A repetition after success replies
/// `lease_lost`.
///
/// **DEAD.** A failure is the last of its batch if the subscriber still exists and has
/// `dead_letters()`, and if either the failure is permanent, or the batch has reached
/// `attempts_max` or `age_max`. The batch then becomes DEAD and keeps its messages; its job is
/// gone, and the next batch of the ordering group goes out. This counts `batches.dead`,
/// `events.dead` and `events.removed`. Beyond `dead_max`, the batches that died first are dropped,
/// at most `dead_moved_max` in one step, which counts `events.dead_dropped`.
///
/// **Health and counters.** Success and failure change the health of the subscriber by
/// `health_change`, if the subscriber still exists, and count `delivery.events`, `.batches`,
/// `.time`, `.time2`, and `latency.batches.*`.
///
/// **Concurrency limit.** Success raises the limit of the ordering group by one, up to the
/// subscriber's `max_in_flight`. Failure lowers the limit by two, down to 16, or raises it by one
/// if it is below 16. A limit greater than `concurrency_max` is lowered to `concurrency_max`.
struct SettleDelivery {
    using Reply = Settlement;
    static constexpr StepTraits traits{.name = "settle_delivery",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_queue(lease.queue); }

    Lease lease;
    bool delivered = false;
    int health_change = 0;
    TimePoint begun_at;                          ///< When the attempt began.
    TimePoint retry_at{};                        ///< Read when it was not delivered.
    std::uint32_t concurrency_max = UINT32_MAX;  ///< 0 counts as 1.
    bool permanent = false;  ///< Read when it was not delivered: no further attempt will succeed.
    /// Read when it was not delivered: the reason. A DEAD batch keeps the first `dead_error_max`
    /// bytes.
    std::string error{};
    /// The reply may come 50 ms later, to share the next commit, often with the `BeginDelivery` of
    /// the subscriber's next batch.
    bool patient = false;
};

/// The steps of a delivery.
using DeliverySteps = StepList<BeginDelivery, SettleDelivery>;

}  // namespace routemaster
