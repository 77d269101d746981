/// @file
/// Parser for timers in the JSON of clients.

#pragma once

#include <optional>
#include <string>

#include "routemaster/delayer.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The due time of a timer: `at` if present, otherwise now plus `delay`.
struct TimerDue {
    Duration delay{0};
    std::optional<TimePoint> at{};
};

/// Parses `delay` and `at`. `invalid` if both are present, or if `required` and both are missing.
[[nodiscard]] Result<TimerDue> timer_due(const Value& payload, bool required);

void append_posted(std::string& json, const PostedTimer& posted);

/// Parses a timer. `invalid`, naming the field, if a type is wrong. The values are validated by
/// `Delayer::check`.
[[nodiscard]] Result<TimerPost> timer_post(const Value& payload);

}  // namespace routemaster::api
