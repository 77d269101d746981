/// @file
/// Steps about batches that are queued: they wait, or are under way.

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

/// Lists the batches that are queued for a subscriber, whether or not it still exists, in delivery
/// order, at most `limit`.
struct ListBatches {
    using Reply = std::vector<QueuedBatch>;
    static constexpr StepTraits traits{.name = "list_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
    /// Those that follow this one. `invalid` when it is not among them any more.
    std::optional<Uid> after{};
};

/// Finds a queued batch of a subscriber; nothing when it has none of that id.
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

/// Lets the delivery of a queued batch fall due now, which takes the rest of the wait from a batch
/// that fills or that failed. It keeps its place in its ordering group: those before it go first.
/// No error when it is due already. Repeating it does so for the wait after a further failure.
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

/// Drops a queued batch together with its delivery job, unless it is under way. Counts
/// `events.dropped`, and `events.removed`. Repeating it finds nothing to drop.
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
