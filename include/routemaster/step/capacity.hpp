/// @file
/// Steps about the space that a store takes.

#pragma once

#include <cstdint>

#include "routemaster/result.hpp"
#include "routemaster/step/check.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"

namespace routemaster {

/// How much space the store takes.
struct StoreUse {
    std::uint64_t bytes = 0;  ///< In memory. What counts is for the store to say.
    friend bool operator==(StoreUse, StoreUse) = default;
};

/// Measures how much space the store takes.
struct MeasureUse {
    using Reply = StoreUse;
    static constexpr StepTraits traits{.name = "measure_use",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return {}; }
};

/// Ends the oldest batches of all subscribers, and their delivery jobs with them: the last resort
/// when there is no space left. First the DEAD ones, in the order they died; batches under
/// delivery are passed over.
/// Counts `events.autodropped` for each subscriber, and `events.removed`, or `events.dead_dropped`
/// of those that were DEAD. Repeating it drops more.
struct DropOldestBatches {
    using Reply = Dropped;
    static constexpr StepTraits traits{.name = "drop_oldest_batches",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(limit); }

    std::uint32_t limit = 100;  ///< Batches to drop at most. At least 1, else `invalid`.
};

/// The steps about the space that a store takes.
using CapacitySteps = StepList<MeasureUse, DropOldestBatches>;

}  // namespace routemaster
