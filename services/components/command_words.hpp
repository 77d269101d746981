/// @file
/// Commands as settings name them.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace routemaster::service {

/// The words of a command. They are separated by white space; quotes and backslashes keep it in a
/// word, as a shell has it: nothing counts within '…', and within "…" a backslash counts before a
/// quote or another backslash alone. Nothing else has a meaning: neither variables, nor patterns,
/// nor pipes. Nothing when a quote is not closed, or there is no word.
[[nodiscard]] std::optional<std::vector<std::string>> command_words(std::string_view text);

/// Whether a program can be executed: the file of that path, or, without a slash, one of that name
/// in a folder of PATH.
[[nodiscard]] bool can_execute(const std::string& program);

}  // namespace routemaster::service
