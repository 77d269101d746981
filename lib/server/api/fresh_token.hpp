/// @file
/// New API tokens.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "routemaster/names.hpp"
#include "routemaster/result.hpp"

namespace routemaster::api {

/// Bytes of true randomness in a token.
inline constexpr std::size_t token_random_bytes = 16;

/// The longest name that `fresh_token` leaves room for.
inline constexpr std::size_t token_owner_length_max = name_length_max - 2 - 2 * token_random_bytes;

/// A token for `owner` that nobody can guess: `OWNER--` and 32 hexadecimal digits.
/// `unavailable` when the machine has no randomness to give.
[[nodiscard]] Result<std::string> fresh_token(std::string_view owner);

}  // namespace routemaster::api
