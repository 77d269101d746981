/// @file
/// Validation rules for names, and reserved names.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster {

/// Maximum length of a topic name, token, service name and queue name, in characters.
inline constexpr std::size_t name_length_max = 64;

/// Rules for topic names.
enum class TopicRule : std::uint8_t {
    any,   ///< 1 to 64 of `a`–`z`, `0`–`9`, `_`, `-` and `.`, not beginning with `-` or `.`.
    ruby,  ///< 1 to 64 of `a`–`z` and `_`: the rule of Ruby Routemaster.
};

/// Describes the rule, for error messages.
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

/// Whether `name` is a valid token, which is also the name of a subscriber, publisher or service: 1
/// to 64 of `a`–`z`, `0`–`9`, `:`, `_` and `-`. This is Ruby Routemaster's rule.
[[nodiscard]] constexpr bool is_user_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
                      c == '-';
           });
}

/// Whether `name` is `.` or `..`. In the path of a URL these are navigation steps (RFC 3986, 3.3),
/// which clients resolve before they send the request. Therefore no object may have such a name.
[[nodiscard]] constexpr bool is_dot_segment(std::string_view name) noexcept {
    return name == "." || name == "..";
}

namespace detail {

/// Table of the characters that a queue name may contain, indexed by character. A table is fast,
/// because every step on jobs validates a queue name.
inline constexpr auto queue_name_characters = [] {
    std::array<bool, 256> may{};
    for (const char c : std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "abcdefghijklmnopqrstuvwxyz0123456789_-."}) {
        may[static_cast<unsigned char>(c)] = true;
    }
    return may;
}();

}  // namespace detail

/// Describes the rule of `is_queue_name`, for error messages.
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

/// The queue of delivery jobs. A delivery job is encoded as `["batch", [uid]]`.
inline constexpr const char* delivery_queue = "main";

/// The name to pass to `Store::watch` for deliveries to callbacks in a process (`local:NAME`).
inline constexpr const char* callback_watch = "main:callbacks";

}  // namespace routemaster
