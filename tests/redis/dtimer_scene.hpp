/// @file
/// `DtimerScene`: timers in the keys that dtimer for Node also uses.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "redis_scene.hpp"
#include "routemaster/codec/msgpack.hpp"

namespace routemaster::test {

inline const Value hello{Value::Map{{"text", "hello"}}};

/// A scene with timers in the namespace of dtimer.
struct DtimerScene : RedisScene {
    TimerPosted post(const std::string& id, Duration delay, std::uint32_t retries_max = 0,
                     const Value& payload = hello, Duration confirm_within = {}) {
        return perform(PostTimer{.space = "dt",
                                 .id = id,
                                 .payload = encode(payload),
                                 .due_at = now + delay,
                                 .retries_max = retries_max,
                                 .confirm_within = confirm_within});
    }

    TakenTimers take(const std::string& listener = "ours", std::uint32_t limit = 8) {
        return perform(TakeTimers{.space = "dt", .listener = listener, .limit = limit});
    }

    TimerConfirmed confirm(const std::string& id, std::optional<std::uint32_t> retries = {}) {
        return perform(ConfirmTimer{"dt", id, retries});
    }

    TimerCounts counts() { return perform(CountTimers{"dt"}); }

    /// Adds an event as another program would, due at `due_at`.
    void leave(const std::string& id, const std::string& event, const std::string& due_at) {
        other({"ZADD", "dt:ei", due_at, id});
        other({"HSET", "dt:ed", id, event});
    }
    void leave(const std::string& id, const std::string& event, Duration delay = {}) {
        leave(id, event, text(delay));
    }
    [[nodiscard]] std::string event(const std::string& id) {
        return other({"HGET", "dt:ed", id}).text;
    }
    [[nodiscard]] std::string told() { return other({"HGET", "dt:gl", "expiresAt"}).text; }
    [[nodiscard]] std::string text(Duration from_now) const {
        return std::to_string(to_milliseconds(now + from_now));
    }
};

}  // namespace routemaster::test
