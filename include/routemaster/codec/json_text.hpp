/// @file
/// JSON printer with Ruby Routemaster's format: compact, without escaping UTF-8 or `/`.

#pragma once

#include <string>
#include <string_view>

#include "routemaster/value.hpp"

namespace routemaster {

/// Appends `text` as a JSON string. `"` and `\` are escaped by a backslash, control characters
/// become `\u00xx`, and each byte that is not UTF-8 becomes U+FFFD. The result is valid JSON.
void append_json_text(std::string& out, std::string_view text);

/// Appends a floating-point number in the format of Ruby Routemaster. A whole number within 64 bits
/// is printed in full, with `.0`. Any other number has 15 significant digits, as C's `%g` prints
/// it, and always a fraction or an exponent. Negative zero is printed as `0.0`, infinities and NaN
/// as `null`. The format does not depend on the locale.
void append_json_number(std::string& out, double number);

/// Appends `value` as compact JSON; maps keep their order. A floating-point number has the fewest
/// digits that parse to exactly this number, including the sign of a zero. Infinities and NaN are
/// printed as `null`.
void append_json(std::string& out, const Value& value);

}  // namespace routemaster
