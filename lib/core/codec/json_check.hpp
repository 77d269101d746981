/// @file
/// Detects values that JSON cannot represent.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// Validates a value for JSON. `invalid`, naming `field`, when the value contains text that is not
/// UTF-8, an infinite number or NaN, a map with equal keys, or nesting deeper than `depth_max`.
/// Equal keys are rejected because JSON parsers differ in the entry they return.
[[nodiscard]] Result<void> check_for_json(const Value& value, std::string_view field,
                                          std::size_t depth_max);

}  // namespace routemaster::detail
