/// @file
/// Parser and printer for rates of jobs: `10/s`, `100/5min`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/rate_limit.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// Parses a rate: a number of jobs, a slash, and a period. The period is an optional whole number
/// (default 1) and a unit: `ms`, `s`, `min`, `h` or `d`. Returns nothing if the text is malformed
/// or the limit is out of range.
[[nodiscard]] std::optional<RateLimit> parse_rate(std::string_view text);

/// Returns a limit as the JSON of requests. `rate` must be valid. Without `burst`, the burst equals
/// the number of jobs in the rate.
[[nodiscard]] Value limit_of(std::string_view rate, std::optional<std::uint32_t> burst);

/// Formats a limit for a table; "-" if there is no limit. Throws `std::runtime_error` if `limit` is
/// malformed.
[[nodiscard]] std::string printed_rate(const Value& limit);

}  // namespace routemaster::service
