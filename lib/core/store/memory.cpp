#include "routemaster/store/memory.hpp"

#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/state/machine.hpp"
#include "core/store/watchers.hpp"

namespace routemaster {

struct MemoryStore::Impl {
    void perform(std::span<Step> steps, TimePoint now, std::vector<Outcome>& outcomes) {
        if (!stopped) {
            try {
                for (auto& step : steps) outcomes.push_back(machine.perform(step, now));
            } catch (const std::bad_alloc&) {
                stopped = true;
            }
        }
        // Short enough to be copied without memory.
        if (stopped) outcomes.resize(steps.size(), Error{Errc::unavailable, "out of memory"});
    }

    std::mutex mutex;  // Guards the machine, and `stopped`.
    detail::NoChangeLog changes;
    detail::Machine machine{changes};
    bool stopped = false;  // A step ran out of memory, and what it left is no state.
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
        impl_->perform(steps, now, outcomes);
        if (!impl_->stopped) woken = impl_->machine.jobs().take_woken();
    }
    impl_->watchers.wake(woken);
    done(outcomes);
}

Watch MemoryStore::watch(const std::string& queue, std::function<void()> wake) {
    return impl_->watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
