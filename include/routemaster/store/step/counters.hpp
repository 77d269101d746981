/// @file
/// Steps for counters.

#pragma once

#include <vector>

#include "routemaster/counter.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/step/check.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"

namespace routemaster {

/// Adds to counters. A repetition adds again. An empty list changes nothing; then the reply only
/// shows that the store accepts changes.
struct AddToCounters {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "add_to_counters",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::fixed};
    [[nodiscard]] Result<void> check() const { return {}; }

    std::vector<Counter> increments;
};

/// Lists the counters, sorted by the bytes of `encode_counter_key`. `Page::after` is such a
/// key.
struct ListCounters {
    using Reply = std::vector<Counter>;
    static constexpr StepTraits traits{.name = "list_counters",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const { return check_limit(page.limit); }

    Page page{};
};

/// The list of the steps for counters.
using CounterSteps = StepList<AddToCounters, ListCounters>;

}  // namespace routemaster
