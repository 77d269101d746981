/// @file
/// The state machine as a store, of which a test knows when it is restored.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/state/machine.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"

namespace routemaster::test {

/// Performs steps as a `MemoryStore` does, which never restarts. Thread safety: one thread.
class MachineStore final : public Store {
public:
    explicit MachineStore(detail::NameLimits limits = {}) : machine_{changes_, limits} {}

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        std::vector<Outcome> outcomes;
        for (auto& step : steps) outcomes.push_back(machine_.perform(step, now));
        done(outcomes);
    }
    [[nodiscard]] Watch watch(const std::string&, std::function<void()>) override { return {}; }

    /// From now on its batches are as if they came from a journal.
    void restored() { machine_.mark_restored(); }
    /// The same, and by another process.
    void reopened() {
        restored();
        machine_.timers().end_firings();
    }

private:
    detail::NoChangeLog changes_;
    detail::Machine machine_;
};

}  // namespace routemaster::test
