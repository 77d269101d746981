/// @file
/// `TimerScene` and `HandListener`: listeners on a manual clock. The test polls the listeners, and
/// handlers run inside `poll`.

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/delayer.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "routemaster/timer_listener.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

namespace routemaster::test {

/// A store with a namespace `calls`, and a clock. Single threaded.
struct TimerScene {
    testing::ManualClock clock;
    MemoryStore memory;
    DisturbedStore store{memory};
    Delayer calls{memory, "calls", clock};
    RecordedLog log;

    TimerListenerOptions complete(TimerListenerOptions options) const {
        options.threads = 0;
        options.clock = &clock;
        options.log = log.sink();
        return options;
    }

    std::string post(const Value& payload, Duration delay = Duration{0},
                     TimerOptions options = {}) {
        return calls.post(payload, delay, std::move(options)).value().id;
    }
    [[nodiscard]] TimerCounts counts() const { return calls.counts().value(); }
};

/// A listener of a scene. Records its timers.
struct HandListener {
    /// A received timer, and the time of its receipt.
    struct Got {
        Timer timer;
        TimePoint at;
    };

    /// `handler` runs after the timer was recorded.
    explicit HandListener(TimerScene& in, TimerListenerOptions options = {},
                          TimerHandler handler = {})
        : scene{in},
          listener{in.store, "calls",
                   TimerHandler{[this, handler = std::move(handler)](TimerContext& timer) {
                       got.push_back({timer, scene.clock.now()});
                       if (handler) handler(timer);
                   }},
                   in.complete(std::move(options))} {}

    /// Does all due work.
    void run() { runner.run(scene.clock.now()); }

    /// Lets time pass, and does the work that becomes due.
    void run_for(Duration span) {
        const auto end = scene.clock.now() + span;
        for (run(); runner.next() < end; run()) scene.clock.set(runner.next());
        scene.clock.set(end);
        run();
    }

    void close(Duration grace = Duration{0}) {
        listener.close(scene.clock.now() + grace);
        runner.wake();
        run();
    }

    [[nodiscard]] std::vector<std::string> texts() const {
        std::vector<std::string> all;
        for (const auto& [timer, at] : got) all.push_back(*timer.payload.get_if<std::string>());
        return all;
    }

    TimerScene& scene;
    std::vector<Got> got;
    TimerListener listener;
    HandRunner runner{listener};
};

/// Runs several listeners of a scene together.
inline void run_all_for(TimerScene& scene, std::vector<HandListener*> all, Duration span) {
    const auto end = scene.clock.now() + span;
    for (;;) {
        auto next = end;
        // A listener may wake another listener, so all run several times.
        for (std::size_t round = 0; round <= all.size(); ++round) {
            for (auto* const each : all) each->run();
        }
        for (auto* const each : all) next = std::min(next, each->runner.next());
        if (next <= scene.clock.now()) {
            if (next >= end) return;
            continue;
        }
        scene.clock.set(next);
    }
}

}  // namespace routemaster::test
