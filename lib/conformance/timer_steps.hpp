/// @file
/// What the cases about timers share.

#pragma once

#include <cstdint>
#include <string>

#include "routemaster/codec/msgpack.hpp"
#include "scenario.hpp"

namespace routemaster::testing {

/// A step that posts a timer whose payload is its id.
inline PostTimer post_of(const Scenario& s, const std::string& id, Duration delay,
                         std::uint32_t retries_max = 0) {
    return {.space = timer_space,
            .id = id,
            .payload = encode(Value{id}),
            .due_at = s.now() + delay,
            .retries_max = retries_max};
}

/// Whether there is a timer of that id.
inline bool exists(const Scenario& s, const std::string& id) {
    return s.perform(FindTimer{timer_space, id}).has_value();
}

}  // namespace routemaster::testing
