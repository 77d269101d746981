#include "core/state/machine.hpp"

#include <utility>

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<AddToCounters::Reply> Machine::apply(AddToCounters& step) {
    for (auto& [key, increment] : step.increments) counters_.add(std::move(key), increment);
    return Done{};
}

template <>
Result<ListCounters::Reply> Machine::apply(ListCounters& step) {
    return counters_.list(step.page);
}

Outcome Machine::perform_in(CounterSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
