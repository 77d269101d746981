/// @file
/// Rates of jobs, as people write them: `10/s`, `100/5min`.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/rate_limit.hpp"
#include "routemaster/value.hpp"

namespace routemaster::service {

/// Reads jobs, a slash, and a time: a whole number, or none for 1, and `ms`, `s`, `min`, `h` or
/// `d`. Nothing when it is none, or no limit is like that.
[[nodiscard]] std::optional<RateLimit> parse_rate(std::string_view text);

/// A limit as requests have it; the rate is one. Without `burst`: as many as in the rate.
[[nodiscard]] Value limit_of(std::string_view rate, std::optional<std::uint32_t> burst);

/// The reverse, for a cell of a table; "-" when there is no limit. Throws `std::runtime_error` when
/// it is no limit.
[[nodiscard]] std::string printed_rate(const Value& limit);

}  // namespace routemaster::service
