/// @file
/// Steps that begin and settle the delivery of a batch.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/batch.hpp"
#include "routemaster/job.hpp"
#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Decision whether a delivery begins.
enum class Verdict {
    deliver,     ///< The worker must deliver the batch, then perform `SettleDelivery`.
    throttled,   ///< The subscriber's health is low; the job was nacked.
    at_limit,    ///< The subscriber's group is at its limit; the job was released.
    vanished,    ///< The batch or subscriber was removed; the job was removed, too.
    lease_lost,  ///< The lease is lost; nothing was changed.
};

/// The reply to `BeginDelivery`.
struct DeliveryStart {
    Verdict verdict = Verdict::lease_lost;
    Subscription subscription{};  ///< Set if `deliver`.
    int health_points = 100;      ///< Set if `deliver`.
    Uid batch{};                  ///< Set if `deliver`.
    TimePoint created_at{};       ///< Set if `deliver`: the time of the batch's first event.
    std::uint32_t attempt = 0;    ///< Set if `deliver`: 1 for the first attempt.
    MessageList messages{};       ///< Set if `deliver`.
    friend bool operator==(const DeliveryStart&, const DeliveryStart&) = default;
};

/// Begins the delivery of the batch of a leased delivery job: seals the batch if it is CURRENT,
/// counts an attempt, and stores `now` as the time of the subscriber's last attempt. A repetition
/// counts one more attempt. `invalid` if the job is not a delivery job.
///
/// **Throttling.** A subscriber with a health below the maximum is throttled if its last attempt is
/// less than `health_backoff` ago. Then the job is nacked, with a delay of `health_backoff`,
/// lengthened by `jitter` and rounded by `retry_time`. The attempt is counted as throttled, and a
/// CURRENT batch continues to collect events.
///
/// **Concurrency limit.** Each ordering group has a limit of concurrent deliveries, which is 16 at
/// most in the beginning. This step lowers the limit to `concurrency_max`, if this is less;
/// settlements raise it again. A job beyond the limit, counted from the front of its group, is
/// released, and waits for the jobs before it. Its batch, if CURRENT, continues to collect events.
/// The first job of a group may always begin. A store shared with workers of Ruby Routemaster
/// lowers no limit, because these workers do not support ordering groups.
///
/// **Durability.** The reply waits until the events are on disk. In an embedded store, the reply
/// also waits until the attempt is on disk, in three cases: if attempts are limited, if the
/// subscriber's timeout is 1 s or more and this is the first attempt, or if an earlier attempt is
/// possibly not on disk. Except for a first attempt, the reply may be delayed by 50 ms, to share
/// the next commit. A crash undoes an attempt that is not on disk, and its number is reused. But a
/// batch id never identifies two different batches: if the first attempt was not on disk, the
/// CURRENT batch collects no more events after the restart of an embedded store.
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
    /// Minimum throttling: a subscriber with a health below the maximum is throttled for at least
    /// this long, regardless of its last attempt.
    Duration pause{0};
};

/// Ends a delivery and settles its job, in one transaction. Success removes the batch and its
/// job. Failure nacks the job until `retry_at`. A repetition after success replies
/// `lease_lost`.
///
/// **DEAD.** A failure makes the batch DEAD if the subscriber still exists and has
/// `dead_letters()`, and if either the failure is permanent, or the batch has reached
/// `attempts_max` or `age_max`. The DEAD batch keeps its messages. Its job is removed, so the next
/// batch of the ordering group is delivered. This counts `batches.dead`, `events.dead` and
/// `events.removed`. Beyond `dead_max`, the batches that died first are dropped, at most
/// `dead_moved_max` in one step, which counts `events.dead_dropped`.
///
/// **Health and counters.** Success and failure change the health of the subscriber by
/// `health_change`, if the subscriber still exists, and count `delivery.events`, `.batches`,
/// `.time`, `.time2`, and `latency.batches.*`.
///
/// **Concurrency limit.** Success raises the limit of the ordering group by one, up to the
/// subscriber's `max_in_flight`. Failure lowers the limit by two, down to 16, or raises it by one
/// if it is below 16. A limit above `concurrency_max` is lowered to `concurrency_max`.
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
    TimePoint retry_at{};                        ///< Used if not `delivered`.
    std::uint32_t concurrency_max = UINT32_MAX;  ///< 0 counts as 1.
    bool permanent = false;                      ///< Used if not `delivered`: no retry can succeed.
    /// Used if not `delivered`: the cause. The first `dead_error_max` bytes are stored with a DEAD
    /// batch.
    std::string error{};
    /// The reply may be delayed by 50 ms, to share the next commit, often with the `BeginDelivery`
    /// of the subscriber's next batch.
    bool patient = false;
};

/// The list of the steps for deliveries.
using DeliverySteps = StepList<BeginDelivery, SettleDelivery>;

}  // namespace routemaster
