/// @file
/// Parser for commands in settings.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace routemaster::service {

/// Splits a command into words at white space. Quotes and backslashes protect white space, as in a
/// shell: within '…' no character is special, and within "…" a backslash escapes only a quote or a
/// backslash. Variables, patterns and pipes are not supported. Returns nothing if a quote is not
/// closed, or if there is no word.
[[nodiscard]] std::optional<std::vector<std::string>> command_words(std::string_view text);

/// Whether a program can be executed. A name with a slash is a path. A name without a slash is
/// searched in the folders of PATH.
[[nodiscard]] bool can_execute(const std::string& program);

}  // namespace routemaster::service
