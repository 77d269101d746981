/// @file
/// Steps for queued batches: batches of events that wait, or are in flight.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/queued_batch.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
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
    /// Lists only batches after this batch. `invalid` if it is not queued any more.
    std::optional<Uid> after{};
};

/// Finds a queued batch of a subscriber. Replies nothing if no queued batch has this id.
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

/// Makes a queued batch due now, if it still collects events or waits for its next attempt. The
/// batch keeps its position in its ordering group, so the batches before it go first. If the batch
/// is due already, nothing changes. A repetition may cancel the wait after a further failure.
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

/// Drops a queued batch and its delivery job, unless the batch is in flight. Its events are counted
/// in `events.dropped` and `events.removed`. A repetition replies `unknown`.
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

/// The list of the steps for queued batches.
using BatchSteps = StepList<ListBatches, FindBatch, DeliverBatch, DropBatch>;

}  // namespace routemaster
