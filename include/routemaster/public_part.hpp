/// @file
/// Redacts secrets for logs, metrics and errors. A token is a password, and callbacks and store
/// URLs often contain a password.

#pragma once

#include <string>
#include <string_view>

namespace routemaster {

/// Returns the name of a token's owner: the text before the first `--`. Empty if the token contains
/// no `--`.
[[nodiscard]] constexpr std::string_view public_name(std::string_view token) noexcept {
    const auto end = token.find("--");
    return end == std::string_view::npos ? std::string_view{} : token.substr(0, end);
}

/// Returns the printable part of a token: its `public_name`, else its first four characters and
/// `…`, or only `…` if the token has at most four. Two tokens may have equal public parts.
[[nodiscard]] std::string public_part(std::string_view token);

/// Returns the printable part of a callback. For a URL: scheme, host and port, because user info,
/// path and query are often credentials. For `local:TOKEN`: the public part of the token. For any
/// other text: `…`.
[[nodiscard]] std::string public_url(std::string_view url);

/// Returns a URL with `***` in place of its user and password. Also redacts a password that
/// contains a `/`, although this character should be written as `%2F`.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace routemaster
