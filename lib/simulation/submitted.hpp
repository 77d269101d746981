/// @file
/// When steps were submitted to the store of a world.

#pragma once

#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::simulation {

/// When steps were submitted to the store.
struct Submitted {
    std::uint64_t number;  ///< Counts submissions.
    TimePoint now;         ///< As the steps say.
    TimePoint moment;
    TimePoint latest;  ///< The latest instant of any step by then: what was due once stays so.
};

}  // namespace routemaster::simulation
