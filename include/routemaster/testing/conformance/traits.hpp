/// @file
/// How stores may differ and conform all the same.

#pragma once

#include <cstdint>
#include <functional>

#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::testing {

/// What the suite has to know of a store. The defaults are those of a store in this process.
struct StoreTraits {
    /// Makes the counters tell all that was performed; called before they are read. Empty: they
    /// always do.
    std::function<void(Store&)> flush_counters{};

    Duration patience{20'000};         ///< Real time within which a wake-up must arrive.
    std::uint64_t seed = 1;            ///< Of the random walk.
    std::uint32_t walk_steps = 5'000;  ///< Length of the random walk.
};

}  // namespace routemaster::testing
