#include "routemaster/printable_text.hpp"

#include <algorithm>
#include <cstddef>

#include "core/codec/utf8.hpp"

namespace routemaster {
namespace {

/// Whether a character is a control or formatting character, which a terminal would execute instead
/// of showing. `character` must be well-formed UTF-8.
bool is_obeyed(std::string_view character) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    const auto within = [](unsigned value, unsigned first, unsigned last) {
        return first <= value && value <= last;
    };
    switch (character.size()) {
        case 1: return byte(0) < ' ' || byte(0) == 0x7f;
        case 2:
            return (byte(0) == 0xc2 && byte(1) < 0xa0) ||  // U+0080 to U+009F.
                   (byte(0) == 0xd8 && byte(1) == 0x9c);   // U+061C.
        case 3:
            return byte(0) == 0xe2 &&
                   ((byte(1) == 0x80 && within(byte(2), 0x8e, 0x8f)) ||  // U+200E, U+200F.
                    (byte(1) == 0x80 && within(byte(2), 0xa8, 0xae)) ||  // U+2028 to U+202E.
                    (byte(1) == 0x81 && within(byte(2), 0xa6, 0xa9)));   // U+2066 to U+2069.
        default: return false;
    }
}

}  // namespace

std::string printable_text(std::string_view text) {
    std::string printable;
    printable.reserve(text.size());
    while (!text.empty()) {
        const auto length = detail::utf8_length(text);
        const auto character = text.substr(0, std::max<std::size_t>(length, 1));
        if (length == 0) {
            printable.append("\xef\xbf\xbd");
        } else if (is_obeyed(character)) {
            printable.push_back(' ');
        } else {
            printable.append(character);
        }
        text.remove_prefix(character.size());
    }
    return printable;
}

}  // namespace routemaster
