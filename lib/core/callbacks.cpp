#include "routemaster/callbacks.hpp"

#include <utility>

namespace routemaster {

void Callbacks::set(const std::string& token, BatchHandler handler) {
    auto shared = std::make_shared<const BatchHandler>(std::move(handler));
    const std::lock_guard lock{mutex_};
    handlers_[token] = std::move(shared);
}

void Callbacks::remove(const std::string& token) {
    const std::lock_guard lock{mutex_};
    handlers_.erase(token);
}

std::shared_ptr<const BatchHandler> Callbacks::find(std::string_view token) const {
    const std::lock_guard lock{mutex_};
    const auto found = handlers_.find(token);
    return found == handlers_.end() ? nullptr : found->second;
}

}  // namespace routemaster
