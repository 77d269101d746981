/// @file
/// Timers as clients post them.

#pragma once

#include <optional>
#include <string>

#include "routemaster/delayer.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// When a timer is to be due: `at`, or `delay` from now.
struct TimerDue {
    Duration delay{0};
    std::optional<TimePoint> at{};
};

/// Reads `delay` and `at`. `invalid` when there are both, or, if one is `required`, none.
[[nodiscard]] Result<TimerDue> timer_due(const Value& payload, bool required);

/// Appends what became of a post.
void append_posted(std::string& json, const PostedTimer& posted);

/// The timer that a JSON value describes. `invalid`, naming the field, when something is wrong with
/// the types; what they contain is for `Delayer::check`.
[[nodiscard]] Result<TimerPost> timer_post(const Value& payload);

}  // namespace routemaster::api
