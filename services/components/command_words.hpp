/// @file
/// Commands as written in settings.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace routemaster::service {

/// Splits a command into words at white space. Quotes and backslashes keep white space in a word,
/// as in a shell: no character is special within '…'; within "…" a backslash escapes only a quote
/// or a backslash. There are no variables, patterns or pipes. Returns nothing when a quote is not
/// closed, or there is no word.
[[nodiscard]] std::optional<std::vector<std::string>> command_words(std::string_view text);

/// Whether a program can be executed. A name with a slash is a path; a name without a slash is
/// looked up in the folders of PATH.
[[nodiscard]] bool can_execute(const std::string& program);

}  // namespace routemaster::service
