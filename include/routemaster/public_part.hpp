/// @file
/// What logs, metrics and errors show of secrets. A token is a password, and callbacks and store
/// URLs often hold one.

#pragma once

#include <string>
#include <string_view>

namespace routemaster {

/// Whose token it is: what stands before its first `--`. Empty when there is no such part.
[[nodiscard]] constexpr std::string_view public_name(std::string_view token) noexcept {
    const auto end = token.find("--");
    return end == std::string_view::npos ? std::string_view{} : token.substr(0, end);
}

/// What may be shown of a token: its `public_name`, else its first four characters and `…`, of a
/// token of up to four characters only `…`. Two tokens may share a public part.
[[nodiscard]] std::string public_part(std::string_view token);

/// What may be shown of a callback: scheme, host and port, for user info, path and query often are
/// credentials; of `local:TOKEN`, the public part of the token; of what is no URL, `…`.
[[nodiscard]] std::string public_url(std::string_view url);

/// A URL with `***` in place of its user and password, in whatever odd place they stand: a
/// password with a `/` that should have been percent-encoded is hidden as well.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace routemaster
