/// @file
/// Steps about DEAD batches: batches that failed for good.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// How many DEAD batches one step redelivers or drops, at most.
inline constexpr std::uint32_t dead_moved_max = 1'000;

/// Lists up to `limit` DEAD batches of a subscriber, the earliest death first.
struct ListDeadBatches {
    using Reply = std::vector<DeadBatchStatus>;
    static constexpr StepTraits traits{.name = "list_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
    /// Only batches behind this batch. `invalid` if the batch is not DEAD any more.
    std::optional<Uid> after{};
};

/// Replies with a DEAD batch of a subscriber and its messages; nothing if no DEAD batch has this
/// id.
struct FindDeadBatch {
    using Reply = std::optional<DeadMessages>;
    static constexpr StepTraits traits{.name = "find_dead_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    Uid batch;
};

/// Queues DEAD batches of a subscriber again: `batch`, or all in the order in which they died. Each
/// batch becomes READY at the end of the ordering group, with its id, its messages, no attempts,
/// and a new age. If a client has pushed the delivery job of a batch by hand, the batch is skipped
/// while this job exists.
/// Replies with the number of batches; if this is `dead_moved_max`, more may be left. Counts
/// `events.redelivered` and `events.added`. A repetition finds no batch, unless batches became DEAD
/// again.
struct RedeliverDeadBatches {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "redeliver_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    std::optional<Uid> batch{};
};

/// Drops DEAD batches of a subscriber: `batch`, or all. Replies with the numbers of batches and
/// events; if `dead_moved_max` batches were dropped, more may be left.
/// Counts `events.dead_dropped`. A repetition drops batches that became DEAD in between.
struct DropDeadBatches {
    using Reply = Dropped;
    static constexpr StepTraits traits{.name = "drop_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    std::optional<Uid> batch{};
};

/// The steps about DEAD batches.
using DeadBatchSteps =
    StepList<ListDeadBatches, FindDeadBatch, RedeliverDeadBatches, DropDeadBatches>;

}  // namespace routemaster
