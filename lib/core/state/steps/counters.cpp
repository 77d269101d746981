#include "core/state/counter_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <utility>

namespace routemaster::detail {

template <>
Result<AddToCounters::Reply> CounterDomain::apply(AddToCounters& step) {
    for (auto& [key, increment] : step.increments) counters_.add(std::move(key), increment);
    return Done{};
}

template <>
Result<ListCounters::Reply> CounterDomain::apply(ListCounters& step) {
    return counters_.list(step.page);
}

Outcome CounterDomain::perform(CounterSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
