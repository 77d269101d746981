/// @file
/// Steps for the memory usage of a store.

#pragma once

#include <cstdint>

#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// The memory usage of a store.
struct StoreUse {
    std::uint64_t bytes = 0;  ///< Bytes in use; each kind of store measures differently.
    friend bool operator==(StoreUse, StoreUse) = default;
};

/// Measures the memory usage of the store.
struct MeasureUse {
    using Reply = StoreUse;
    static constexpr StepTraits traits{.name = "measure_use",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }
};

/// Drops the oldest batches of all subscribers, with their delivery jobs, as the last resort if the
/// store is full. DEAD batches are dropped first, in the order of their deaths. Batches in flight
/// are skipped. The dropped events are counted in `events.autodropped` of each subscriber, and in
/// `events.removed` or, for DEAD batches, in `events.dead_dropped`. A repetition drops further
/// batches.
struct DropOldestBatches {
    using Reply = Dropped;
    static constexpr StepTraits traits{.name = "drop_oldest_batches",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::uint32_t limit = 100;  ///< Maximum batches to drop. At least 1, else `invalid`.
};

/// The list of the steps for memory usage.
using CapacitySteps = StepList<MeasureUse, DropOldestBatches>;

}  // namespace routemaster
