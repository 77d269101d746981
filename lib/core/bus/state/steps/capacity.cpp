#include "core/bus/state/delivery_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <string>

namespace routemaster::detail {

template <>
Result<MeasureUse::Reply> DeliveryDomain::apply(MeasureUse&) {
    return StoreUse{subscriber_queues_.bytes()};
}

template <>
Result<DropOldestBatches::Reply> DeliveryDomain::apply(DropOldestBatches& step) {
    return subscriber_queues_.drop_oldest(step.limit, [this](const std::string& token) {
        return registry_.subscriber(token) != nullptr;
    });
}

Outcome DeliveryDomain::perform(CapacitySteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
