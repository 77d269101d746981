/// @file
/// Rules for names, and names with a special meaning.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster {

/// Longest topic name, token, service name and queue name, in characters.
inline constexpr std::size_t name_length_max = 64;

/// Rules for topic names.
enum class TopicRule : std::uint8_t {
    any,   ///< 1 to 64 of `a`–`z`, `0`–`9`, `_`, `-` and `.`, not beginning with `-` or `.`.
    ruby,  ///< 1 to 64 of `a`–`z` and `_`: the rule of Ruby Routemaster.
};

/// The rule as text for error messages.
[[nodiscard]] constexpr std::string_view to_string(TopicRule rule) noexcept {
    switch (rule) {
        case TopicRule::any: return "1 to 64 of a-z, 0-9, _, - and ., the first no - or .";
        case TopicRule::ruby: return "1 to 64 of a-z and _";
    }
    return "?";
}

/// Whether `name` is a valid topic name.
[[nodiscard]] constexpr bool is_topic_name(std::string_view name,
                                           TopicRule rule = TopicRule::any) noexcept {
    const auto is_good = [rule](char c) {
        if ((c >= 'a' && c <= 'z') || c == '_') return true;
        return rule == TopicRule::any && ((c >= '0' && c <= '9') || c == '-' || c == '.');
    };
    return !name.empty() && name.size() <= name_length_max && name.front() != '-' &&
           name.front() != '.' && std::all_of(name.begin(), name.end(), is_good);
}

/// Whether `name` is a valid token, and so a valid name of a subscriber, publisher or service: 1 to
/// 64 of `a`–`z`, `0`–`9`, `:`, `_` and `-`. The rule comes from Ruby Routemaster.
[[nodiscard]] constexpr bool is_user_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
                      c == '-';
           });
}

/// Whether `name` is `.` or `..`. In the path of a URL these are navigation steps (RFC 3986, 3.3),
/// which clients resolve before they send the request. Therefore no object may have these names.
[[nodiscard]] constexpr bool is_dot_segment(std::string_view name) noexcept {
    return name == "." || name == "..";
}

namespace detail {

/// For each character, whether a queue name may contain it. A table, since every step on jobs
/// checks a queue name.
inline constexpr auto queue_name_characters = [] {
    std::array<bool, 256> may{};
    for (const char c : std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "abcdefghijklmnopqrstuvwxyz0123456789_-."}) {
        may[static_cast<unsigned char>(c)] = true;
    }
    return may;
}();

}  // namespace detail

/// The rule of `is_queue_name` as text for error messages.
inline constexpr const char* queue_name_rule =
    "1 to 64 of A-Z, a-z, 0-9, _, - and ., but not . or ..";

/// Whether `name` is a valid name of a job queue: 1 to 64 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `-`
/// and `.`, but not `.` or `..`. A colon is not allowed, because keys in Redis contain the name
/// between colons.
[[nodiscard]] constexpr bool is_queue_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > name_length_max || is_dot_segment(name)) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return detail::queue_name_characters[static_cast<unsigned char>(c)];
    });
}

/// The queue of delivery jobs. A delivery job is `["batch", [uid]]`.
inline constexpr const char* delivery_queue = "main";

/// The name to pass to `Store::watch` for deliveries to callbacks in processes.
inline constexpr const char* callback_watch = "main:callbacks";

}  // namespace routemaster
