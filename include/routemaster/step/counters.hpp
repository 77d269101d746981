/// @file
/// Steps about counters.

#pragma once

#include <vector>

#include "routemaster/counter.hpp"
#include "routemaster/step/reply.hpp"

namespace routemaster {

/// Adds to counters. Repeating it adds again. To add to none asks whether changes are taken.
struct AddToCounters {
    using Reply = Done;
    std::vector<Counter> increments;
};

/// Tells the counters, in the order of the bytes of `encode_counter_key`, which makes up the page's
/// `after`.
struct ListCounters {
    using Reply = std::vector<Counter>;
    Page page{};
};

}  // namespace routemaster
