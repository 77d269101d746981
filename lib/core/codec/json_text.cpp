#include "routemaster/codec/json_text.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/codec/json_writer.hpp"
#include "core/codec/sink.hpp"
#include "core/codec/utf8.hpp"

namespace routemaster {
namespace {

/// How many bytes at the start of `text` need no escaping in JSON: printable ASCII except `"` and
/// `\`. Tests eight bytes at a time, by Mycroft's trick for a byte below or equal to another byte.
std::size_t plain_length(std::string_view text) noexcept {
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

/// Appends the first character of `text` to `out`. A special character is escaped, and an invalid
/// character is replaced. Returns how many bytes of `text` were consumed.
std::size_t append_json_character(std::string& out, std::string_view text) {
    const auto c = static_cast<unsigned char>(text.front());
    if (c == '"' || c == '\\') {
        out.append({'\\', text.front()});
        return 1;
    }
    if (c < 0x20) {
        constexpr std::string_view digits = "0123456789abcdef";
        const char escaped[]{'\\', 'u', '0', '0', digits[c >> 4U], digits[c & 15U]};
        out.append(escaped, sizeof escaped);
        return 1;
    }
    const std::size_t length = detail::utf8_length(text);
    if (length == 0) {
        out.append("\xef\xbf\xbd");
        return 1;
    }
    out.append(text.substr(0, length));
    return length;
}

/// Appends the digits of a floating-point number, with `.0` if they have no fraction. Otherwise
/// parsers would read the number as an integer.
void append_with_fraction(std::string& out, std::string_view digits) {
    out.append(digits);
    if (digits.find_first_of(".e") == std::string_view::npos) out.append(".0");
}

bool is_whole(double number) noexcept {
    constexpr double limit = 9223372036854775808.0;
    return number >= -limit && number < limit && std::trunc(number) == number;
}

}  // namespace

void append_json_text(std::string& out, std::string_view text) {
    out.push_back('"');
    while (true) {
        const std::size_t plain = plain_length(text);
        out.append(text.substr(0, plain));
        text.remove_prefix(plain);
        if (text.empty()) break;
        text.remove_prefix(append_json_character(out, text));
    }
    out.push_back('"');
}

void append_json_number(std::string& out, double number) {
    if (!std::isfinite(number)) {
        out.append("null");
        return;
    }
    if (is_whole(number)) {
        detail::append_decimal(out, static_cast<std::int64_t>(number));
        out.append(".0");
        return;
    }
    char digits[40];
    const auto end =
        std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 15).ptr;
    append_with_fraction(out, {digits, static_cast<std::size_t>(end - digits)});
}

void detail::append_exact(std::string& out, double number) {
    if (is_whole(number) || !std::isfinite(number)) {
        if (number == 0 && std::signbit(number)) out.push_back('-');
        return append_json_number(out, number);
    }
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    append_with_fraction(out, {digits, static_cast<std::size_t>(end - digits)});
}

void append_json(std::string& out, const Value& value) {
    detail::JsonWriter writer{out};
    detail::report(value, writer);
}

}  // namespace routemaster
