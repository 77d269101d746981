#include "routemaster/callbacks.hpp"

#include <algorithm>
#include <utility>

namespace routemaster {
namespace {

/// How long deliveries to callbacks wait for a worker before the log warns. A program may publish
/// before it starts its worker.
constexpr Duration wait_max{10'000};

}  // namespace

Callbacks::~Callbacks() {
    if (idle_) warn();
}

void Callbacks::set(const std::string& token, BatchHandler handler) {
    auto shared = std::make_shared<const BatchHandler>(std::move(handler));
    const std::lock_guard lock{mutex_};
    handlers_[token] = std::move(shared);
    idle_ = !attended_;
}

void Callbacks::remove(const std::string& token) {
    const std::lock_guard lock{mutex_};
    handlers_.erase(token);
    if (!handlers_.empty()) return;
    idle_ = false;
    waiting_since_ = never;
}

std::shared_ptr<const BatchHandler> Callbacks::find(std::string_view token) const {
    const std::lock_guard lock{mutex_};
    const auto found = handlers_.find(token);
    return found == handlers_.end() ? nullptr : found->second;
}

std::vector<std::string> Callbacks::names() const {
    const std::lock_guard lock{mutex_};
    std::vector<std::string> all;
    all.reserve(handlers_.size());
    for (const auto& [token, handler] : handlers_) all.push_back(token);
    return all;
}

void Callbacks::attach() {
    const std::lock_guard lock{mutex_};
    attended_ = true;
    idle_ = false;
}

void Callbacks::wait_since(TimePoint now) {
    {
        const std::lock_guard lock{mutex_};
        if (!idle_) return;
        waiting_since_ = std::min(waiting_since_, now);
        if (now - waiting_since_ < wait_max) return;
        attended_ = true;
        idle_ = false;
    }
    warn();
}

void Callbacks::warn() const {
    if (!log_) return;
    log_(LogLevel::warning,
         "no DeliveryWorker calls the callbacks of this program, and their events accumulate in "
         "the store: construct a DeliveryWorker, and keep it alive while callbacks are needed");
}

}  // namespace routemaster
