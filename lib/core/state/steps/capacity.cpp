#include "core/state/machine.hpp"

#include <string>

namespace routemaster::detail {

Result<MeasureUse::Reply> Machine::apply(MeasureUse&) {
    return StoreUse{subscriber_queues_.bytes()};
}

Result<DropOldestBatches::Reply> Machine::apply(DropOldestBatches& step) {
    return subscriber_queues_.drop_oldest(step.limit, [this](const std::string& token) {
        return registry_.subscriber(token) != nullptr;
    });
}

}  // namespace routemaster::detail
