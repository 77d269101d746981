#include "core/state/machine.hpp"

#include <string>

namespace routemaster::detail {

Result<MeasureUse::Reply> Machine::apply(MeasureUse&) { return StoreUse{outboxes_.bytes()}; }

Result<DropOldestBatches::Reply> Machine::apply(DropOldestBatches& step) {
    return outboxes_.drop_oldest(step.limit, [this](const std::string& token) {
        return directory_.subscriber(token) != nullptr;
    });
}

}  // namespace routemaster::detail
