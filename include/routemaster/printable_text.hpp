/// @file
/// Sanitises untrusted text for logs and terminals.

#pragma once

#include <string>
#include <string_view>

namespace routemaster {

/// Returns an untrusted text as one line, for a log or a terminal. A space replaces each control
/// character (C0, DEL, and C1, with which terminal escape sequences begin), each line or paragraph
/// separator, and each character that changes the direction of text (U+061C, U+200E, U+200F, U+202A
/// to U+202E, U+2066 to U+2069). U+FFFD replaces each byte that is not UTF-8.
[[nodiscard]] std::string printable_text(std::string_view text);

}  // namespace routemaster
