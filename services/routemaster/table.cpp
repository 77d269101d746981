#include "table.hpp"

#include <algorithm>
#include <cstddef>
#include <iostream>

#include "routemaster/printable_text.hpp"

namespace routemaster::service {
namespace {

/// Maximum length of the text in a cell, in bytes.
constexpr std::size_t cell_max = 60;

}  // namespace

std::string cell(std::string text) {
    text = printable_text(text);
    if (text.size() <= cell_max) return text;
    auto end = cell_max - 3;
    // A UTF-8 character must not be split.
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
