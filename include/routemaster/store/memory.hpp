/// @file
/// The store that lives in memory and dies with the process. Deterministic: it is the readable
/// specification of the steps, and the oracle that other stores are compared with.

#pragma once

#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/detail/state/machine.hpp"
#include "routemaster/detail/watchers.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// Performs steps at once, in the calling thread, under one lock. Durable as memory is.
///
/// Thread safety: all members may be called from any thread.
class MemoryStore final : public Store {
public:
    MemoryStore() = default;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        std::vector<Outcome> outcomes;
        outcomes.reserve(steps.size());
        std::vector<std::string> woken;
        {
            const std::lock_guard lock{mutex_};
            for (auto& step : steps) outcomes.push_back(machine_.perform(step, now));
            woken = machine_.jobs().take_woken();
        }
        watchers_.wake(woken);
        done(outcomes);
    }

    [[nodiscard]] Watch watch(const std::string& queue, std::function<void()> wake) override {
        return watchers_.add(queue, std::move(wake));
    }

private:
    detail::NoEffects effects_;
    std::mutex mutex_;  // Guards `machine_`.
    detail::Machine machine_{effects_};
    detail::Watchers watchers_;
};

}  // namespace routemaster
