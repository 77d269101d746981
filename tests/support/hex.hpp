/// @file
/// Bytes in hexadecimal notation.

#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace routemaster::test {

/// Decodes pairs of hexadecimal digits; all further characters are separators.
inline std::string hex(std::string_view digits) {
    std::string bytes;
    int pending = -1;
    for (const char c : digits) {
        if (std::isxdigit(static_cast<unsigned char>(c)) == 0) continue;
        const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
        if (pending < 0) {
            pending = digit;
        } else {
            bytes.push_back(static_cast<char>(pending * 16 + digit));
            pending = -1;
        }
    }
    return bytes;
}

}  // namespace routemaster::test
