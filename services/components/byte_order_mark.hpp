/// @file
/// The byte order mark that some editors and shells put before UTF-8.

#pragma once

#include <string>
#include <string_view>

namespace routemaster::service {

/// Removes the mark from the first line of a file, if it has one.
inline void remove_byte_order_mark(std::string& line) {
    constexpr std::string_view mark = "\xef\xbb\xbf";
    if (line.starts_with(mark)) line.erase(0, mark.size());
}

}  // namespace routemaster::service
