/// @file
/// Parses JSON; `json_text.hpp` prints it.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/codec/json_text.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// How deep arrays and objects may be nested in parsed JSON.
inline constexpr std::size_t json_depth_max = 64;

/// Parses `text`.
///
/// Integers keep all 64 bits. Of equal keys in an object the last value counts. `invalid`, with
/// `JSON: … at byte N` (counted from 1), for everything that is not JSON by RFC 8259 (NaN,
/// comments, a lone surrogate, bytes that are not UTF-8, more text behind the value, no text at
/// all), and for a byte order mark, numbers beyond 64 bits, and more than `json_depth_max` levels.
[[nodiscard]] Result<Value> parse_json(std::string_view text);

}  // namespace routemaster
