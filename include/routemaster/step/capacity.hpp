/// @file
/// Steps about the space that a store takes.

#pragma once

#include <cstdint>

#include "routemaster/step/reply.hpp"

namespace routemaster {

/// How much space the store takes.
struct StoreUse {
    std::uint64_t bytes = 0;  ///< In memory. What counts is for the store to say.
    friend bool operator==(StoreUse, StoreUse) = default;
};

/// Tells how much space the store takes.
struct MeasureUse {
    using Reply = StoreUse;
};

/// Ends the oldest batches, whoever they are for, and their delivery jobs with them: the last
/// resort when there is no space left. First the DEAD ones, in the order they died; batches under
/// delivery are passed over.
/// Counts `events.autodropped` for each subscriber, and `events.removed`, or `events.dead_dropped`
/// of those that were DEAD. Repeating it drops more.
struct DropOldestBatches {
    using Reply = Dropped;
    std::uint32_t limit = 100;  ///< Batches to drop at most. At least 1, else `invalid`.
};

}  // namespace routemaster
