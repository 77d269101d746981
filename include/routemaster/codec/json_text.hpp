/// @file
/// Prints JSON exactly as the original bus does: compact, UTF-8 as it is, `/` as it is.

#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "routemaster/codec/sink.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

namespace detail {

/// How many bytes the well-formed UTF-8 character at the start of `text` has; 0 when there is
/// none. Overlong forms, surrogates and code points above U+10FFFF are not well formed (Unicode
/// 15, table 3-7).
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

/// Whether all of `text` is well-formed UTF-8.
[[nodiscard]] constexpr bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

/// How many bytes at the start of `text` JSON takes as they are: printable ASCII but `"` and `\`.
/// Looks at eight bytes at a time (Mycroft's test for a byte below or equal to another).
[[nodiscard]] inline std::size_t plain_length(std::string_view text) noexcept {
    constexpr std::uint64_t ones = 0x0101010101010101U;
    constexpr std::uint64_t highs = 0x8080808080808080U;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, 8);
        const std::uint64_t quote = word ^ (ones * '"');
        const std::uint64_t backslash = word ^ (ones * '\\');
        const std::uint64_t special =
            word | (word - ones * 0x20) | (quote - ones) | (backslash - ones);
        if ((special & highs) != 0) break;
    }
    for (; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\') break;
    }
    return i;
}

/// Appends the one character that `text` starts with, escaped or mended, and says how many bytes
/// of `text` it took.
inline std::size_t append_json_character(std::string& out, std::string_view text) {
    const auto c = static_cast<unsigned char>(text.front());
    if (c == '"' || c == '\\') {
        out.append({'\\', text.front()});
        return 1;
    }
    if (c < 0x20) {
        constexpr std::string_view digits = "0123456789abcdef";
        out.append("\\u00").append({digits[c >> 4U], digits[c & 15U]});
        return 1;
    }
    const std::size_t length = utf8_length(text);
    if (length == 0) {
        out.append("\xef\xbf\xbd");
        return 1;
    }
    out.append(text.substr(0, length));
    return length;
}

template <class Integer>
void append_decimal(std::string& out, Integer number) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    out.append(digits, static_cast<std::size_t>(end - digits));
}

}  // namespace detail

/// Appends `text` in quotes. `"` and `\` get a backslash, control characters become `\u00xx`, and
/// every byte that is not well-formed UTF-8 becomes U+FFFD, so that the result is always JSON.
inline void append_json_text(std::string& out, std::string_view text) {
    out.push_back('"');
    while (true) {
        const std::size_t plain = detail::plain_length(text);
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        text.remove_prefix(detail::append_json_character(out, text));
    }
    out.push_back('"');
}

/// Appends a floating-point number as the original does: whole numbers within 64 bits in full and
/// with `.0`, others in 15 significant digits as C's `%g`, always with a fraction or an exponent;
/// negative zero as `0.0`. What is not finite becomes `null`. The locale does not matter.
inline void append_json_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out.append("null");
        return;
    }
    constexpr double limit = 9223372036854775808.0;
    if (number >= -limit && number < limit && std::trunc(number) == number) {
        detail::append_decimal(out, static_cast<std::int64_t>(number));
        out.append(".0");
        return;
    }
    char digits[40];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 15).ptr;
    const std::string_view text{digits, static_cast<std::size_t>(end - digits)};
    out.append(text);
    if (text.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

namespace detail {

/// A sink that prints JSON behind what `out` holds already.
class JsonWriter {
public:
    explicit JsonWriter(std::string& out) noexcept : out_{out} {}

    bool null() { return literal("null"); }
    bool boolean(bool truth) { return literal(truth ? "true" : "false"); }
    bool integer(std::int64_t number) {
        separate();
        append_decimal(out_, number);
        return true;
    }
    bool natural(std::uint64_t number) {
        separate();
        append_decimal(out_, number);
        return true;
    }
    bool real(double number) {
        separate();
        append_json_number(out_, number);
        return true;
    }
    bool text(std::string_view text) {
        separate();
        append_json_text(out_, text);
        return true;
    }
    bool begin_array(std::size_t) { return begin('['); }
    bool begin_map(std::size_t) { return begin('{'); }
    bool key(std::string_view name) {
        separate();
        append_json_text(out_, name);
        out_.push_back(':');
        return true;
    }
    bool end_array() { return end(']'); }
    bool end_map() { return end('}'); }

    /// Empties `out` and starts over.
    void clear() {
        out_.clear();
        depth_ = 0;
    }

private:
    /// Outside of texts only an opening bracket and a colon call for a value without a comma, and
    /// a text always ends in a quote, so the last character tells.
    void separate() {
        if (depth_ == 0) return;
        const char last = out_.back();
        if (last != '[' && last != '{' && last != ':') out_.push_back(',');
    }
    bool literal(std::string_view word) {
        separate();
        out_.append(word);
        return true;
    }
    bool begin(char bracket) {
        separate();
        out_.push_back(bracket);
        ++depth_;
        return true;
    }
    bool end(char bracket) {
        out_.push_back(bracket);
        --depth_;
        return true;
    }

    std::string& out_;
    std::size_t depth_ = 0;
};

}  // namespace detail

/// Appends `value` as compact JSON, maps in their own order.
inline void append_json(std::string& out, const Value& value) {
    detail::JsonWriter writer{out};
    detail::report(value, writer);
}

}  // namespace routemaster
