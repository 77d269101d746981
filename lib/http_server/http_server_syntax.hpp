/// @file
/// Grammar of HTTP/1.1 messages (RFC 9110 §5, RFC 9112).

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace routemaster::detail {

/// Maximum bytes of a request line with its header fields, and of all trailers of a body. While a
/// head is incomplete, only its last, incomplete line is buffered.
inline constexpr std::size_t head_size_max = 16'384;

/// An error in a request, as sent in the response. `text` must be a string literal.
struct RequestError {
    int status = 0;
    const char* text = "";
};

namespace syntax {

enum Class : std::uint8_t { token = 1, value = 2, target = 4, host = 8 };

inline constexpr auto classes = [] {
    std::array<std::uint8_t, 256> table{};
    const auto add = [&](std::string_view characters, int kinds) {
        for (const char c : characters) {
            auto& entry = table[static_cast<unsigned char>(c)];
            entry = static_cast<std::uint8_t>(entry | kinds);
        }
    };
    for (std::size_t c = 0x21; c < 0x7f; ++c) table[c] = value | target;
    for (std::size_t c = 0x80; c < 0x100; ++c) table[c] = value;
    add(" \t", value);
    add("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", token | host);
    add("!#$%&'*+-.^_`|~", token);
    add("-._~%!$&'()*+;=:[]", host);
    return table;
}();

[[nodiscard]] constexpr bool all(std::string_view text, Class kind) noexcept {
    return std::all_of(text.begin(), text.end(), [kind](char c) {
        return (classes[static_cast<unsigned char>(c)] & kind) != 0;
    });
}

[[nodiscard]] constexpr char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Whether `text` equals `word`, ignoring case. `word` must be in lower case.
[[nodiscard]] constexpr bool is(std::string_view text, std::string_view word) noexcept {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char a, char b) { return lower(a) == b; });
}

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

}  // namespace syntax

struct Field {
    std::string_view name;
    std::string_view value;

    /// Parses a line without its line break. Returns false if it is not a valid field: white space
    /// before the colon, a continuation line, or a control character.
    [[nodiscard]] static constexpr bool parse(std::string_view line, Field& field) noexcept {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || colon == 0) return false;
        field = {line.substr(0, colon), syntax::trimmed(line.substr(colon + 1))};
        return syntax::all(field.name, syntax::token) && syntax::all(field.value, syntax::value);
    }
};

}  // namespace routemaster::detail
