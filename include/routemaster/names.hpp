/// @file
/// Which names are allowed. Rules of the original bus (its web API's validators).

#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace routemaster {

/// Longest topic name, token and service name, in characters.
inline constexpr std::size_t name_length_max = 64;

/// Whether `name` may name a topic: 1 to 64 of `a`–`z` and `_`.
[[nodiscard]] constexpr bool is_topic_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max &&
           std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

/// Whether `name` may be a token, a subscriber, a publisher or a service: 1 to 64 of `a`–`z`,
/// `0`–`9`, `:`, `_` and `-`.
[[nodiscard]] constexpr bool is_user_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
                      c == '-';
           });
}

}  // namespace routemaster
