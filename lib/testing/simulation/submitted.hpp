/// @file
/// `Submitted`: the times of a submission to the store of a world.

#pragma once

#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::simulation {

struct Submitted {
    std::uint64_t number;
    TimePoint now;  ///< The time in the steps.
    TimePoint moment;
    TimePoint latest;  ///< The latest time of all steps so far: due jobs stay due.
};

}  // namespace routemaster::simulation
