/// @file
/// `CounterDomain`: the counters of a store.

#pragma once

#include "core/state/counters.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs `CounterSteps`. Not thread safe.
class CounterDomain {
public:
    explicit CounterDomain(CounterTable& counters) : counters_{counters} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(CounterSteps steps, Step& step);

private:
    CounterTable& counters_;
};

}  // namespace routemaster::detail
