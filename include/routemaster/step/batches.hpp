/// @file
/// Steps about queued batches: batches of events that wait, or are under way.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/queued_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Lists up to `limit` queued batches of a subscriber in delivery order, even if the subscriber no
/// longer exists.
struct ListBatches {
    using Reply = std::vector<QueuedBatch>;
    static constexpr StepTraits traits{.name = "list_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
    /// Only batches behind this batch. `invalid` if the batch is not queued any more.
    std::optional<Uid> after{};
};

/// Replies with a queued batch of a subscriber; nothing if no queued batch has this id.
struct FindBatch {
    using Reply = std::optional<QueuedBatch>;
    static constexpr StepTraits traits{.name = "find_batch",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    Uid batch;
};

/// Makes the delivery of a queued batch due now: ends the wait of a batch that collects events, or
/// that failed. The batch keeps its place in its ordering group: the batches before it go first.
/// Not an error if the batch is due already. A repetition may end the wait after a further failure.
struct DeliverBatch {
    using Reply = BatchAction;
    static constexpr StepTraits traits{.name = "deliver_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    Uid batch;
};

/// Drops a queued batch together with its delivery job, unless the batch is under way. Its events
/// are counted in `events.dropped` and `events.removed`. A repetition finds nothing to drop.
struct DropBatch {
    using Reply = BatchAction;
    static constexpr StepTraits traits{.name = "drop_batch",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::string token;
    Uid batch;
};

/// The steps about queued batches.
using BatchSteps = StepList<ListBatches, FindBatch, DeliverBatch, DropBatch>;

}  // namespace routemaster
