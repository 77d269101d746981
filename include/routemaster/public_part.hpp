/// @file
/// The parts of secrets that logs, metrics and errors may show. A token is a password, and
/// callbacks and store URLs often contain a password.

#pragma once

#include <string>
#include <string_view>

namespace routemaster {

/// The name of a token's owner: the part before the first `--`. Empty if the token contains no
/// `--`.
[[nodiscard]] constexpr std::string_view public_name(std::string_view token) noexcept {
    const auto end = token.find("--");
    return end == std::string_view::npos ? std::string_view{} : token.substr(0, end);
}

/// The part of a token that may be shown: its `public_name`, else its first four characters and
/// `…`, or only `…` if the token has no more than four. Two tokens may have equal public parts.
[[nodiscard]] std::string public_part(std::string_view token);

/// The part of a callback that may be shown. Of a URL: scheme, host and port, since user info, path
/// and query are often credentials. Of `local:TOKEN`: the public part of the token. Of any other
/// text: `…`.
[[nodiscard]] std::string public_url(std::string_view url);

/// A URL with `***` in place of its user and password. Also hides a password with a `/` in it,
/// although a URL should contain `%2F` instead.
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace routemaster
