/// @file
/// Handling of the byte order mark, which some editors and shells write before UTF-8 text.

#pragma once

#include <string>
#include <string_view>

namespace routemaster::service {

/// Removes a byte order mark from the first line of a file.
inline void remove_byte_order_mark(std::string& line) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (line.starts_with(mark)) line.erase(0, mark.size());
}

}  // namespace routemaster::service
