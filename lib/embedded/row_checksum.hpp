/// @file
/// The checksum of a journal row.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <libdeflate.h>

namespace routemaster::embedded {

/// Checksum over the number and the changes of a row. It detects damaged rows, and rows stored
/// under a wrong number.
inline std::int64_t row_checksum(std::uint64_t row, std::string_view changes) {
    std::array<unsigned char, sizeof row> number{};
    for (std::size_t i = 0; i < number.size(); ++i) {
        number[i] = static_cast<unsigned char>(row >> (8U * i));
    }
    auto sum = libdeflate_crc32(0, number.data(), number.size());
    // For a null pointer, libdeflate would return 0 instead of the sum. SQLite returns a null
    // pointer for an empty value.
    if (!changes.empty()) sum = libdeflate_crc32(sum, changes.data(), changes.size());
    return static_cast<std::int64_t>(sum);
}

}  // namespace routemaster::embedded
