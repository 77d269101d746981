/// @file
/// JSON parser; `json_text.hpp` has the printer.

#pragma once

#include <cstddef>
#include <string_view>

#include "routemaster/codec/json_text.hpp"
#include "routemaster/result.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Maximum nesting depth of arrays and objects in parsed JSON.
inline constexpr std::size_t json_depth_max = 64;

/// Parses `text`.
///
/// Integers keep all 64 bits. If an object has a key twice, the last value is used. Returns
/// `invalid`, with the text `JSON: … at byte N` (counted from 1), for everything that is not JSON
/// by RFC 8259: NaN, comments, a lone surrogate, bytes that are not UTF-8, text after the value, or
/// an empty text. Also returns `invalid` for a byte order mark, numbers beyond 64 bits, and more
/// than `json_depth_max` levels.
[[nodiscard]] Result<Value> parse_json(std::string_view text);

}  // namespace routemaster
