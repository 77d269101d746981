/// @file
/// What one client may see of another.

#pragma once

#include <string>
#include <string_view>

#include "call.hpp"

namespace routemaster::api {

/// Whether `caller` may see everything about the owner of `token`: the owner and root may.
[[nodiscard]] bool may_see_all(const Caller& caller, std::string_view token) noexcept;

/// Stands for what is kept back.
inline constexpr std::string_view withheld = "...";

/// A token for clients that are not its owner: its `public_name`, or all of it withheld.
[[nodiscard]] std::string_view shown_token(std::string_view token) noexcept;

/// Where a callback leads: scheme, host and port. Of `local:TOKEN`, the token as above.
[[nodiscard]] std::string shown_callback(std::string_view callback);

}  // namespace routemaster::api
