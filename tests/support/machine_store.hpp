/// @file
/// `MachineStore`: the state machine as a store with simulated restarts.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/state/machine.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::test {

/// Performs steps as a `MemoryStore` does. Thread safety: one thread.
class MachineStore final : public Store {
public:
    explicit MachineStore(detail::NameLimits limits = {}) : machine_{changes_, limits} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        std::vector<Outcome> outcomes;
        for (auto& step : steps) outcomes.push_back(machine_.perform(step, now));
        done(outcomes);
    }
    [[nodiscard]] Watch watch(const std::string&, std::function<void()>) override { return {}; }

    /// Treats all batches as restored from a journal from now on.
    void restored() { machine_.mark_restored(); }
    /// Simulates a restart in a new process: calls `restored`, and ends the firings of timers.
    void reopened() {
        restored();
        machine_.timers().end_firings();
    }

private:
    detail::NoChangeLog changes_;
    detail::Machine machine_;
};

}  // namespace routemaster::test
