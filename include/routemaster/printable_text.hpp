/// @file
/// Texts of others in logs and on terminals.

#pragma once

#include <string>
#include <string_view>

namespace routemaster {

/// A text of others on one line, for a log or a terminal. Instead of each control character (C0,
/// DEL and C1, which begin the escape sequences of a terminal), line or paragraph separator, and
/// character that turns the direction of what follows (U+061C, U+200E and U+200F, U+202A to U+202E,
/// U+2066 to U+2069) there is a space, and instead of each byte that is not UTF-8, U+FFFD.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace routemaster
