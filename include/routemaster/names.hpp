/// @file
/// Which names are allowed, and which have a meaning.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster {

/// Longest topic name, token, service name and queue name, in characters.
inline constexpr std::size_t name_length_max = 64;

/// Which names topics may have.
enum class TopicRule : std::uint8_t {
    any,   ///< 1 to 64 of `a`–`z`, `0`–`9`, `_`, `-` and `.`, not beginning with `-` or `.`.
    ruby,  ///< 1 to 64 of `a`–`z` and `_`: the rule of Ruby Routemaster.
};

/// The rule in words.
[[nodiscard]] constexpr std::string_view to_string(TopicRule rule) noexcept {
    switch (rule) {
        case TopicRule::any: return "1 to 64 of a-z, 0-9, _, - and ., the first no - or .";
        case TopicRule::ruby: return "1 to 64 of a-z and _";
    }
    return "?";
}

/// Whether `name` may name a topic.
[[nodiscard]] constexpr bool is_topic_name(std::string_view name,
                                           TopicRule rule = TopicRule::any) noexcept {
    const auto is_good = [rule](char c) {
        if ((c >= 'a' && c <= 'z') || c == '_') return true;
        return rule == TopicRule::any && ((c >= '0' && c <= '9') || c == '-' || c == '.');
    };
    return !name.empty() && name.size() <= name_length_max && name.front() != '-' &&
           name.front() != '.' && std::all_of(name.begin(), name.end(), is_good);
}

/// Whether `name` may be a token, a subscriber, a publisher or a service: 1 to 64 of `a`–`z`,
/// `0`–`9`, `:`, `_` and `-`. A rule of Ruby Routemaster.
[[nodiscard]] constexpr bool is_user_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
                      c == '-';
           });
}

/// Whether `name` is `.` or `..`. In the path of a URL these are steps through it (RFC 3986, 3.3),
/// which clients take before they send it: so nothing is named so.
[[nodiscard]] constexpr bool is_dot_segment(std::string_view name) noexcept {
    return name == "." || name == "..";
}

namespace detail {

/// By character: whether it may stand in the name of a queue. Every step on jobs checks one.
inline constexpr auto queue_name_characters = [] {
    std::array<bool, 256> may{};
    for (const char c : std::string_view{"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "abcdefghijklmnopqrstuvwxyz0123456789_-."}) {
        may[static_cast<unsigned char>(c)] = true;
    }
    return may;
}();

}  // namespace detail

/// The rule of `is_queue_name` in words.
inline constexpr const char* queue_name_rule =
    "1 to 64 of A-Z, a-z, 0-9, _, - and ., but not . or ..";

/// Whether `name` may name a queue of jobs: 1 to 64 of `A`–`Z`, `a`–`z`, `0`–`9`, `_`, `-` and `.`,
/// but not `.` or `..`.
/// No colon: on Redis the name stands between colons in the keys of the queue.
[[nodiscard]] constexpr bool is_queue_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > name_length_max || is_dot_segment(name)) return false;
    return std::all_of(name.begin(), name.end(), [](char c) {
        return detail::queue_name_characters[static_cast<unsigned char>(c)];
    });
}

/// The queue of delivery jobs. A delivery job is `["batch", [uid]]`.
inline constexpr const char* delivery_queue = "main";

/// What to `Store::watch` for deliveries to callbacks in processes.
inline constexpr const char* callback_watch = "main:callbacks";

}  // namespace routemaster
