/// @file
/// Finds what JSON cannot carry.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster::detail {

/// `invalid`, naming `field`, when a value contains text that is not UTF-8, a number that is not
/// finite, a map with equal keys, of which each parser would choose another, or arrays and maps
/// nested deeper than `depth_max`.
[[nodiscard]] Result<void> check_for_json(const Value& value, std::string_view field,
                                          std::size_t depth_max);

}  // namespace routemaster::detail
