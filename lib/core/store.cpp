#include "routemaster/store.hpp"

#include "routemaster/store/step.hpp"

namespace routemaster {

void ForwardingStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    next_.submit(steps, now, std::move(done));
}

Watch ForwardingStore::watch(const std::string& queue, std::function<void()> wake) {
    return next_.watch(queue, std::move(wake));
}

}  // namespace routemaster
