/// @file
/// Durations that settings give in seconds.

#pragma once

#include <cmath>

#include <CLI/CLI.hpp>

#include "routemaster/time.hpp"

namespace routemaster::service {

/// Seconds as whole milliseconds. Throws `CLI::ValidationError` for what is no number, which ranges
/// let pass.
[[nodiscard]] inline Duration from_seconds(double seconds) {
    if (std::isnan(seconds)) throw CLI::ValidationError("seconds", "nan is no number of them");
    return Duration{std::llround(seconds * 1'000)};
}

/// From a millisecond to ten minutes.
[[nodiscard]] inline CLI::Validator seconds() { return CLI::Range(0.001, 600.0); }

}  // namespace routemaster::service
