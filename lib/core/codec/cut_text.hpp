/// @file
/// Truncates a text without splitting a character.

#pragma once

#include <cstddef>
#include <string_view>

namespace routemaster::detail {

/// The first `most` bytes of a text, without an incomplete UTF-8 character at the end.
[[nodiscard]] inline std::string_view cut_text(std::string_view text, std::size_t most) noexcept {
    if (text.size() <= most) return text;
    auto end = most;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end);
}

}  // namespace routemaster::detail
