/// @file
/// Helpers for the cases about timers.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "scenario.hpp"
#include "threads.hpp"

namespace routemaster::testing {

using Ids = std::vector<std::string>;

/// A step that posts a timer. The payload of the timer is its id.
inline PostTimer post_of(const Scenario& s, const std::string& id, Duration delay,
                         std::uint32_t retries_max = 0) {
    return {.space = timer_space,
            .id = id,
            .payload = encode(Value{id}),
            .due_at = s.now() + delay,
            .retries_max = retries_max};
}

/// Posts a timer, as `post_of`. The id must be new.
inline void post(const Scenario& s, const std::string& id, Duration delay,
                 std::uint32_t retries_max = 0, Where at = Where::here()) {
    expect_equal(s.perform(post_of(s, id, delay, retries_max), at), TimerPosted::posted,
                 "outcome of the post of " + id, at);
}

/// Posts a timer with a payload of nearly the maximal size. The id must be new.
inline void post_large(const Scenario& s, const std::string& id, Duration delay,
                       std::uint32_t retries_max = 0, Where at = Where::here()) {
    auto step = post_of(s, id, delay, retries_max);
    step.payload = encode(Value{std::string(timer_bytes_max - 3, 'x')});
    expect_equal(s.perform(std::move(step), at), TimerPosted::posted,
                 "outcome of the post of " + id, at);
}

inline TakenTimers take(const Scenario& s, std::uint32_t limit = taken_timers_max,
                        const std::string& listener = "ear", Where at = Where::here()) {
    return s.perform(TakeTimers{.space = timer_space, .listener = listener, .limit = limit}, at);
}

inline Ids ids_of(const TakenTimers& taken) {
    Ids ids;
    for (const auto& timer : taken.timers) ids.push_back(timer.id);
    return ids;
}

inline Ids take_ids(const Scenario& s, std::uint32_t limit = taken_timers_max,
                    const std::string& listener = "ear", Where at = Where::here()) {
    return ids_of(take(s, limit, listener, at));
}

inline bool exists(const Scenario& s, const std::string& id) {
    return s.perform(FindTimer{timer_space, id}).has_value();
}

/// The timer with this id, which must exist.
inline TimerStatus found_timer(const Scenario& s, const std::string& id, Where at = Where::here()) {
    auto timer = s.perform(FindTimer{timer_space, id}, at);
    expect(timer.has_value(), "no timer has the id " + id, at);
    return *std::move(timer);
}

inline std::vector<TimerStatus> listed(const Scenario& s, TimerState state = TimerState::pending) {
    return s.perform(ListTimers{.space = timer_space, .state = state, .limit = 1'000});
}

/// Confirms a firing; without `retries`, the last firing.
inline TimerConfirmed confirm(const Scenario& s, const std::string& id,
                              std::optional<std::uint32_t> retries = std::nullopt) {
    return s.perform(ConfirmTimer{timer_space, id, retries});
}

inline TimerCounts counts(const Scenario& s) { return s.perform(CountTimers{timer_space}); }

/// Lets all due timers fire, and lets the time to confirm pass. They are then retried or DEAD.
inline void let_fire(Scenario& s) {
    while (!take(s).timers.empty()) continue;
    s.advance(Duration{10'000});
    take(s);
}

class Ear {
public:
    Ear(Scenario& scenario, std::string name)
        : s_{scenario},
          name_{std::move(name)},
          watch_{s_.store().watch(timer_watch(timer_space, name_), [this] { woken_.raise(); })} {
        // Waits for a reply. By then, a client of a server has subscribed to wake-ups.
        ask();
    }

    /// Polls for timers. `expect_woken` then expects a wake-up after this poll.
    TakenTimers ask(std::uint32_t limit = taken_timers_max, Where at = Where::here()) {
        seen_ = woken_.count();
        return take(s_, limit, name_, at);
    }

    void expect_woken(const std::string& by, Where at = Where::here()) {
        expect(woken_.wait_beyond(seen_, s_.traits().timeout), name_ + " was not woken by " + by,
               at);
    }

    void leave() { s_.perform(LeaveTimers{timer_space, name_}); }

private:
    Scenario& s_;
    std::string name_;
    Signal woken_;
    std::uint64_t seen_ = 0;
    Watch watch_;
};

}  // namespace routemaster::testing
