/// @file
/// Texts of others in log lines.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/codec/cut_text.hpp"

namespace routemaster::detail {

/// A text of others for a log line: they chose how long it is, and whether it has several lines, or
/// escape sequences for a terminal. At most `most` bytes of it are left, and no control character.
[[nodiscard]] inline std::string log_text(std::string_view text, std::size_t most) {
    std::string line{cut_text(text, most)};
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
    return text.size() > most ? line + "..." : line;
}

}  // namespace routemaster::detail
