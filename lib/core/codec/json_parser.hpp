/// @file
/// Parses JSON with a limit on nesting.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// As `routemaster::parse_json`, with at most `depth_max` levels of arrays and objects.
[[nodiscard]] Result<Value> parse_json(std::string_view text, std::size_t depth_max);

}  // namespace routemaster::detail
