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

/// What to do about a delivery job.
enum class Verdict {
    deliver,    ///< Hand the batch over, then `SettleDelivery`.
    throttled,  ///< The subscriber is being spared; the job was nacked.
    at_limit,  ///< The subscriber has its share of deliveries; the job waits in its ordering group.
    vanished,  ///< Batch or subscriber are gone; the batch was removed and the job is done.
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
/// `health_backoff` ago: the job is then nacked for that wait, lengthened by `jitter`, until its
/// `retry_time`, the attempt counts as throttled, and a CURRENT batch goes on taking events. Else,
/// the concurrency limit of the ordering group is lowered to `concurrency_max` if it is greater. A
/// batch that is not within the limit any more is not begun: its job is released and waits for
/// those before it, and a CURRENT batch goes on taking events. Settlements raise the limit again.
/// Whatever `concurrency_max`, the first of an ordering group may begin. A store that is shared
/// with workers of Ruby Routemaster, who know no ordering groups, lowers no limit. The limit of
/// every ordering group begins at 16 at most. Otherwise seals the batch when it is CURRENT, counts
/// an attempt, and notes `now` as the subscriber's last one. Repeating it counts one attempt more.
/// A job that is not a delivery job is `invalid`.
///
/// The reply waits until the events are on disk. In an embedded store it waits for the attempt as
/// well when attempts are limited, when the subscriber's timeout is a second or more and this is
/// the first, and when none of the attempts before may be on disk. Of anything but a first attempt
/// it may come 50 ms later, so that this is written with the next commit. A crash forgets an
/// attempt that was not written: its number comes again. One batch id never names two different
/// batches, whatever crashes: where the first attempt is not written, a CURRENT batch takes no more
/// events once an embedded store has started again.
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
    /// A subscriber whose health is below its maximum is throttled for this long at least, however
    /// long ago its last attempt is.
    Duration pause{0};
};

/// Ends a delivery, in one step with its job.
///
/// Success removes the batch and acknowledges the job; failure nacks the job until `retry_at`.
/// A failure is the last one of its batch when the subscriber still exists, `dead_letters()`, and
/// either the failure is permanent, or the batch has come to `attempts_max` or `age_max`: the batch
/// is then DEAD, its job gone, and the next of the ordering group goes out. It keeps its messages,
/// counts `batches.dead`, `events.dead` and `events.removed`, and those that died first are dropped
/// beyond `dead_max`, at most `dead_moved_max` in one step, which counts `events.dead_dropped`.
/// Either changes the health of the subscriber by `health_change`, if it still exists, and counts
/// `delivery.events`, `.batches`, `.time`, `.time2`, and `latency.batches.*`. Success raises the
/// concurrency limit of the ordering group by one, up to what its subscriber asked; failure lowers
/// it by two, down to 16, or raises it by one below 16. It never exceeds `concurrency_max`: a
/// greater limit is lowered to that. Repeating one that succeeded answers `lease_lost`.
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
    /// Likewise: why not. A DEAD batch keeps the first `dead_error_max` bytes.
    std::string error{};
    /// The reply may take 50 ms longer, so that the end is written with the next commit: often that
    /// of the `BeginDelivery` of the subscriber's next batch.
    bool patient = false;
};

/// The steps of a delivery.
using DeliverySteps = StepList<BeginDelivery, SettleDelivery>;

}  // namespace routemaster
