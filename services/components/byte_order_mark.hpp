/// @file
/// The byte order mark, which some editors and shells write before UTF-8 text.

#pragma once

#include <string>
#include <string_view>

namespace routemaster::service {

/// Removes the byte order mark from the first line of a file, if the line begins with one.
inline void remove_byte_order_mark(std::string& line) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (line.starts_with(mark)) line.erase(0, mark.size());
}

}  // namespace routemaster::service
