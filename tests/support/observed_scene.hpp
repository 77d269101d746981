/// @file
/// `ObservedScene`: an object that the test polls while time passes, and a store that records the
/// requests of the object.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/active.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/testing/scripted_transport.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/worker_profile.hpp"
#include "support/hand_runner.hpp"

namespace routemaster::test {

/// A store that records requests. The test wakes its watchers.
class ObservedStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    [[nodiscard]] Watch watch(const std::string&, std::function<void()> wake) override {
        wakes_.push_back(std::move(wake));
        return {};
    }
    void wake() const {
        for (const auto& one : wakes_) one();
    }

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        for (const auto& step : steps) note(step);
        ForwardingStore::submit(steps, now, std::move(done));
    }

    int asked = 0;  ///< The number of requests for jobs, timers or ticks.
    int heartbeats = 0;
    int scrubs = 0;
    int measured = 0;
    std::uint32_t limit = 0;                 ///< The highest limit.
    std::set<Duration> silences{};           ///< The silences after which workers count as dead.
    std::set<Duration> confirm_within{};     ///< Of timers.
    std::set<Uid> workers{};                 ///< Of heartbeats.
    std::set<Duration> own_silences{};       ///< The silences that workers report of themselves.
    std::optional<WorkerProfile> profile{};  ///< The last one.

private:
    void note(const Step& step) {
        if (const auto* jobs = std::get_if<AcquireJobs>(&step)) {
            ++asked;
            limit = std::max(limit, jobs->limit);
        } else if (const auto* timers = std::get_if<TakeTimers>(&step)) {
            ++asked;
            limit = std::max(limit, timers->limit);
            confirm_within.insert(timers->confirm_within);
        } else if (std::holds_alternative<DueRecurringJobs>(step)) {
            ++asked;
        } else if (const auto* scrub = std::get_if<ScrubWorkers>(&step)) {
            ++scrubs;
            silences.insert(scrub->silence);
        } else if (const auto* heartbeat = std::get_if<Heartbeat>(&step)) {
            note(*heartbeat);
        } else if (std::holds_alternative<MeasureUse>(step)) {
            ++measured;
        }
    }
    void note(const Heartbeat& heartbeat) {
        ++heartbeats;
        workers.insert(heartbeat.worker);
        if (heartbeat.profile == nullptr) return;
        profile = *heartbeat.profile;
        own_silences.insert(profile->silence);
    }

    std::vector<std::function<void()>> wakes_;
};

/// An object that the test polls while time passes.
struct ObservedScene {
    void run(Active& active, Duration span) {
        HandRunner runner{active};
        const auto end = clock.now() + span;
        for (runner.run(clock.now()); runner.next() < end; runner.run(clock.now())) {
            clock.set(runner.next());
        }
        clock.set(end);
    }

    testing::ManualClock clock;
    MemoryStore memory;
    ObservedStore store{memory};
    testing::ScriptedTransport transport;
};

}  // namespace routemaster::test
