/// @file
/// Times as stored on the server: milliseconds in a double, the score of a sorted set.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/time.hpp"

namespace routemaster::redis {

/// The greatest whole number that a double represents exactly. It stands for `never`.
inline constexpr std::int64_t wire_never = 9'007'199'254'740'991;

/// Converts a time of the caller's clock to the server's clock, clamped to the range that the
/// server can store.
[[nodiscard]] constexpr std::int64_t to_wire(TimePoint at, Duration clock_offset) noexcept {
    if (at == never) return wire_never;
    const auto number = to_milliseconds(saturating_add(at, clock_offset));
    return std::clamp(number, -wire_never, wire_never);
}

[[nodiscard]] constexpr TimePoint from_wire(std::int64_t number, Duration clock_offset) noexcept {
    if (number >= wire_never) return never;
    return saturating_add(from_milliseconds(number), -clock_offset);
}

}  // namespace routemaster::redis
