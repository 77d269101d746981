#include "routemaster/store/memory.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/state/machine.hpp"
#include "core/store/outcomes.hpp"
#include "core/store/payload_bytes.hpp"
#include "core/store/refused_steps.hpp"
#include "core/store/watchers.hpp"
#include "core/system/memory_headroom.hpp"
#include "core/system/owner_process.hpp"

namespace routemaster {

namespace {

/// Memory reserved for completing existing work, as in a store with a file, in bytes.
constexpr std::uint64_t memory_reserve = 64U << 20U;

}  // namespace

struct MemoryStore::Impl {
    const detail::OwnerProcess process{"store", "opened", "open"};

    Outcome perform(Step& step, TimePoint now) {
        // The text is short enough for `std::string` to store it without an allocation.
        const auto out_of_memory = [] { return Error{Errc::unavailable, "out of memory"}; };
        if (stopped) return out_of_memory();
        const auto bytes = detail::payload_bytes_of(step);
        if (CapacityNeed{traits_of(step).needs} != CapacityNeed::none &&
            headroom.is_short_for(bytes)) {
            return Error{Errc::unavailable, "memory is short"};
        }
        try {
            return machine.perform(step, now);
        } catch (const std::bad_alloc&) {
            stopped = true;
            return out_of_memory();
        }
    }

    std::mutex mutex;  // Guards the machine, the headroom, and `stopped`.
    detail::NoChangeLog changes;
    detail::Machine machine{changes};
    detail::MemoryHeadroom headroom{memory_reserve};
    bool stopped = false;  // A step ran out of memory and may have left an inconsistent state.
    detail::Watchers watchers;
};

MemoryStore::MemoryStore() : impl_{std::make_unique<Impl>()} {}

MemoryStore::~MemoryStore() { detail::leave_to_parent(impl_); }

void MemoryStore::submit(std::span<Step> steps, TimePoint now, Completion done) {
    if (!impl_->process.is_this()) {
        return detail::refuse(steps, done, impl_->process.refusal());
    }
    detail::Outcomes outcomes{steps.size()};
    std::vector<std::string> woken;
    {
        const std::lock_guard lock{impl_->mutex};
        for (std::size_t n = 0; n < steps.size(); ++n) {
            const bool ahead = !impl_->stopped && n % detail::Machine::ahead_max == 0;
            if (ahead) impl_->machine.fetch_ahead(steps.subspan(n));
            outcomes.add([&] { return impl_->perform(steps[n], now); });
        }
        if (!impl_->stopped) woken = impl_->machine.jobs().take_woken();
    }
    impl_->watchers.wake(woken);
    done(outcomes.all());
}

Watch MemoryStore::watch(const std::string& queue, std::function<void()> wake) {
    return detail::own(impl_).watchers.add(queue, std::move(wake));
}

}  // namespace routemaster
