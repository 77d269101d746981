#include "routemaster/store/memory.hpp"

#include <mutex>
#include <utility>
#include <vector>

#include "core/state/machine.hpp"
#include "core/store/watchers.hpp"

namespace routemaster {

struct MemoryStore::Impl {
    detail::NoChangeLog changes;
    std::mutex mutex;  // Guards `machine`.
    detail::Machine machine{changes};
    detail::Watchers watchers;
};

MemoryStore::MemoryStore() : impl_{std::make_unique<Impl>()} {}

MemoryStore::~MemoryStore() = default;

void MemoryStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    std::vector<Outcome> outcomes;
    outcomes.reserve(steps.size());
    std::vector<std::string> woken;
    {
        const std::lock_guard lock{impl_->mutex};
        for (auto& step : steps) outcomes.push_back(impl_->machine.perform(step, now));
        woken = impl_->machine.jobs().take_woken();
    }
    impl_->watchers.wake(woken);
    done(outcomes);
}

Watch MemoryStore::watch(const std::string& queue, std::function<void()> wake) {
    return impl_->watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
