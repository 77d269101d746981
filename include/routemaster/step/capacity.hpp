/// @file
/// Steps about a store's use of memory.

#pragma once

#include <cstdint>

#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// How much memory the store uses.
struct StoreUse {
    std::uint64_t bytes = 0;  ///< Memory in use, as each kind of store measures it.
    friend bool operator==(StoreUse, StoreUse) = default;
};

/// Measures how much memory the store uses.
struct MeasureUse {
    using Reply = StoreUse;
    static constexpr StepTraits traits{.name = "measure_use",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }
};

/// Drops the oldest batches of all subscribers, with their delivery jobs: the last resort if the
/// store is full. DEAD batches go first, in the order in which they died. Batches under way are
/// skipped.
/// The dropped events are counted in `events.autodropped` of each subscriber, and in
/// `events.removed`, or, for DEAD batches, in `events.dead_dropped`. A repetition drops more.
struct DropOldestBatches {
    using Reply = Dropped;
    static constexpr StepTraits traits{.name = "drop_oldest_batches",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::uint32_t limit = 100;  ///< Batches to drop at most. At least 1, else `invalid`.
};

/// The steps about a store's use of memory.
using CapacitySteps = StepList<MeasureUse, DropOldestBatches>;

}  // namespace routemaster
