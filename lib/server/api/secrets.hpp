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

/// Whose token it is: what stands before the first `--`; all of it is withheld when there is none,
/// or nothing before it.
[[nodiscard]] std::string_view public_part(std::string_view token) noexcept;

/// Where a callback leads: scheme, host and port. User info and path are often credentials. A
/// `local:` callback is a name, and stays.
[[nodiscard]] std::string public_callback(std::string_view callback);

}  // namespace routemaster::api
