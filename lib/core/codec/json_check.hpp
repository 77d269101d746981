/// @file
/// Finds content JSON cannot represent.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// `invalid`, naming `field`, when a value contains text other than UTF-8, an infinite number or
/// NaN, a map with equal keys, or arrays and maps nested deeper than `depth_max`. Parsers of JSON
/// choose differently among equal keys.
[[nodiscard]] Result<void> check_for_json(const Value& value, std::string_view field,
                                          std::size_t depth_max);

}  // namespace routemaster::detail
