/// @file
/// Prints JSON as Ruby Routemaster does: compact, without escaping UTF-8 or `/`.

#pragma once

#include <string>
#include <string_view>

#include "routemaster/value.hpp"

namespace routemaster {

/// Appends `text` in quotes. `"` and `\` get a backslash, control characters become `\u00xx`, and
/// every byte that is not well-formed UTF-8 becomes U+FFFD, so that the result is always JSON.
void append_json_text(std::string& out, std::string_view text);

/// Appends a floating-point number as Ruby Routemaster delivers it: whole numbers within 64 bits in
/// full and with `.0`, others in 15 significant digits as C's `%g`, always with a fraction or an
/// exponent; negative zero as `0.0`. Infinities and NaN become `null`. The locale does not matter.
void append_json_number(std::string& out, double number);

/// Appends `value` as compact JSON, with maps in their own order. A floating-point number has the
/// fewest digits that are read as the same one, sign of a zero included; infinities and NaN become
/// `null`.
void append_json(std::string& out, const Value& value);

}  // namespace routemaster
