/// @file
/// Quotes a client's text in an error about a schedule.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace routemaster::detail {

/// The beginning of a text, in quotes. Characters that are not printable ASCII are replaced.
[[nodiscard]] inline std::string quoted(std::string_view text) {
    constexpr std::size_t shown_max = 40;
    std::string shown{text.substr(0, shown_max)};
    std::replace_if(
        shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c > '~'; }, '?');
    return "'" + shown + (text.size() > shown_max ? "...'" : "'");
}

}  // namespace routemaster::detail
