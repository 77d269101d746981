#include "core/state/machine.hpp"

#include <utility>

namespace routemaster::detail {

Result<AddToCounters::Reply> Machine::apply(AddToCounters& step) {
    for (auto& [key, increment] : step.increments) counters_.add(std::move(key), increment);
    return Done{};
}

Result<ListCounters::Reply> Machine::apply(ListCounters& step) { return counters_.list(step.page); }

}  // namespace routemaster::detail
