/// @file
/// What a request presents to prove who it comes from.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace routemaster::api {

/// The user name in an `Authorization` header of HTTP Basic (RFC 7617): what stands before the
/// first colon. Nothing when the header is of another scheme, no Base64, or has no colon.
[[nodiscard]] std::optional<std::string> basic_user(std::string_view authorization);

/// Whether `given` is `secret`, which is not empty. How long it takes does not tell where the two
/// differ.
[[nodiscard]] bool is_secret(std::string_view secret, std::string_view given) noexcept;

}  // namespace routemaster::api
