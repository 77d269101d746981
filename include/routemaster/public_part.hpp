/// @file
/// What logs, metrics and errors show of secrets. A token is a password, and callbacks and store
/// URLs often hold one.

#pragma once

#include <cstddef>
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
[[nodiscard]] inline std::string public_part(std::string_view token) {
    constexpr std::size_t shown = 4;
    if (const auto name = public_name(token); !name.empty()) return std::string{name};
    return std::string{token.size() > shown ? token.substr(0, shown) : std::string_view{}} + "…";
}

/// What may be shown of a callback: scheme, host and port, for user info, path and query often are
/// credentials; of `local:TOKEN`, the public part of the token; of what is no URL, `…`.
[[nodiscard]] inline std::string public_url(std::string_view url) {
    constexpr std::string_view mark = "://";
    const auto scheme = url.find(mark);
    if (scheme == std::string_view::npos) {
        const auto colon = url.find(':');
        if (colon == std::string_view::npos) return "…";
        return std::string{url.substr(0, colon + 1)} + public_part(url.substr(colon + 1));
    }
    auto authority = url.substr(scheme + mark.size());
    authority = authority.substr(0, authority.find_first_of("/?#\\"));
    authority.remove_prefix(authority.rfind('@') + 1);
    return std::string{url.substr(0, scheme + mark.size())} + std::string{authority};
}

/// A URL with `***` in place of its user and password, in whatever odd place they stand: a
/// password with a `/` that should have been percent-encoded is hidden as well.
[[nodiscard]] inline std::string without_password(std::string_view url) {
    constexpr std::string_view mark = "://";
    const auto scheme = url.find(mark);
    const auto at = url.rfind('@');
    if (scheme == std::string_view::npos || at == std::string_view::npos || at < scheme) {
        return std::string{url};
    }
    return std::string{url.substr(0, scheme + mark.size())} + "***" + std::string{url.substr(at)};
}

}  // namespace routemaster
