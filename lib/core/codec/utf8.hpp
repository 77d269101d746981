/// @file
/// Validates UTF-8.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster::detail {

/// Size in bytes of the well-formed UTF-8 character at the start of `text`, or 0. Overlong forms,
/// surrogates and code points above U+10FFFF are not well formed (Unicode 15, table 3-7).
[[nodiscard]] constexpr std::size_t utf8_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto within = [&](std::size_t i, unsigned low, unsigned high) {
        return i < text.size() && byte(i) >= low && byte(i) <= high;
    };
    if (text.empty()) return 0;
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    if (lead < 0xe0) return within(1, 0x80, 0xbf) ? 2 : 0;
    if (lead < 0xf0) {
        const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
        const unsigned high = lead == 0xed ? 0x9f : 0xbf;
        return within(1, low, high) && within(2, 0x80, 0xbf) ? 3 : 0;
    }
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return within(1, low, high) && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
}

[[nodiscard]] constexpr bool begins_with_ascii(std::string_view text) noexcept {
    if (text.size() < sizeof(std::uint64_t)) return false;
    std::uint64_t word = 0;  // Compilers turn the loop into one load instruction.
    for (std::size_t i = 0; i < sizeof word; ++i) {
        word |= std::uint64_t{static_cast<unsigned char>(text[i])} << (8U * i);
    }
    return (word & 0x8080'8080'8080'8080) == 0;
}

[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        // Most texts are ASCII, so eight characters are checked at a time.
        if (begins_with_ascii(text)) {
            text.remove_prefix(sizeof(std::uint64_t));
            continue;
        }
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

}  // namespace routemaster::detail
