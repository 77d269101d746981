#include "core/state/machine.hpp"

#include <string>

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<MeasureUse::Reply> Machine::apply(MeasureUse&) {
    return StoreUse{subscriber_queues_.bytes()};
}

template <>
Result<DropOldestBatches::Reply> Machine::apply(DropOldestBatches& step) {
    return subscriber_queues_.drop_oldest(step.limit, [this](const std::string& token) {
        return registry_.subscriber(token) != nullptr;
    });
}

Outcome Machine::perform_in(CapacitySteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
