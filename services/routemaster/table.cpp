#include "table.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <string_view>
#include <utility>

namespace routemaster::service {
namespace {

/// The longest text of a cell, in bytes.
constexpr std::size_t cell_max = 60;

/// The bytes of the control character that a text begins with, or of one that ends a line or turns
/// the direction of what follows, as Unicode has them; 0 when it begins with another.
std::size_t unprintable(std::string_view text) {
    const auto byte = [&text](std::size_t n) {
        return n < text.size() ? static_cast<unsigned char>(text[n]) : 0U;
    };
    const auto within = [](unsigned value, unsigned first, unsigned last) {
        return first <= value && value <= last;
    };
    if (byte(0) < ' ' || byte(0) == 0x7f) return 1;
    if (byte(0) == 0xc2 && within(byte(1), 0x80, 0x9f)) return 2;  // U+0080 to U+009F.
    if (byte(0) != 0xe2) return 0;
    const bool turns = (byte(1) == 0x80 && within(byte(2), 0x8e, 0x8f)) ||  // U+200E, U+200F.
                       (byte(1) == 0x80 && within(byte(2), 0xa8, 0xae)) ||  // U+2028 to U+202E.
                       (byte(1) == 0x81 && within(byte(2), 0xa6, 0xa9));    // U+2066 to U+2069.
    return turns ? 3 : 0;
}

}  // namespace

std::string in_line(std::string text) {
    std::string line;
    for (std::string_view left = text; !left.empty();) {
        if (const auto bytes = unprintable(left); bytes > 0) {
            line += ' ';
            left.remove_prefix(bytes);
        } else {
            line += left.front();
            left.remove_prefix(1);
        }
    }
    return line;
}

std::string cell(std::string text) {
    text = in_line(std::move(text));
    if (text.size() <= cell_max) return text;
    auto end = cell_max - 3;
    // Not within a character.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
    return text.substr(0, end) + "...";
}

void print_table(const Rows& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
        }
        std::cout << line << '\n';
    }
}

}  // namespace routemaster::service
