/// @file
/// Rates of jobs in their readable form: `10/s`, `100/5min`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/rate_limit.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// Parses a rate: a number of jobs, a slash, and a period. The period is an optional whole number
/// (by default 1) and a unit: `ms`, `s`, `min`, `h` or `d`. Returns nothing when the text is
/// malformed or the limit is out of range.
[[nodiscard]] std::optional<RateLimit> parse_rate(std::string_view text);

/// A limit in the form of requests. `rate` must be valid. Without `burst`, as many jobs as in the
/// rate may start at once.
[[nodiscard]] Value limit_of(std::string_view rate, std::optional<std::uint32_t> burst);

/// Formats a limit for a cell of a table; "-" when there is no limit. Throws `std::runtime_error`
/// when `limit` is malformed.
[[nodiscard]] std::string printed_rate(const Value& limit);

}  // namespace routemaster::service
