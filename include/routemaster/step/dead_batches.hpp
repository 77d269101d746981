/// @file
/// Steps about batches that failed for good.

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

/// DEAD batches that one step redelivers or drops at most.
inline constexpr std::uint32_t dead_moved_max = 1'000;

/// Lists the DEAD batches of a subscriber, those that died first at the front, at most `limit`.
struct ListDeadBatches {
    using Reply = std::vector<DeadBatchStatus>;
    static constexpr StepTraits traits{.name = "list_dead_batches",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::string token;
    std::uint32_t limit = 1'000;  ///< At least 1, else `invalid`.
    /// Those that follow this one. `invalid` when it is not among them any more.
    std::optional<Uid> after{};
};

/// Finds a DEAD batch of a subscriber, with its messages; nothing when it has none of that id.
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

/// Puts DEAD batches of a subscriber back: each is READY at the end of the ordering group, as if it
/// began now, with its id, its messages and no attempts. All of them, if none is named, in the
/// order they died. Replies how many; when that is `dead_moved_max`, there may be more to do. A
/// batch whose delivery job somebody pushed by hand is passed over while that exists. Counts
/// `events.redelivered` and `events.added`. Repeating it finds nothing to put back, unless they
/// died again.
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

/// Drops DEAD batches of a subscriber: all of them, if none is named. Replies what was dropped;
/// when that is `dead_moved_max` batches, there may be more to do.
/// Counts `events.dead_dropped`. Repeating it drops what died meanwhile.
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
