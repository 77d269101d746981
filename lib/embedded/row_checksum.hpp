/// @file
/// The checksum that each row of the journal bears.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <libdeflate.h>

namespace routemaster::embedded {

/// Guards against a row that was damaged, and against one that stands in another's place.
inline std::int64_t row_checksum(std::uint64_t row, std::string_view changes) {
    std::array<unsigned char, sizeof row> number{};
    for (std::size_t i = 0; i < number.size(); ++i) {
        number[i] = static_cast<unsigned char>(row >> (8U * i));
    }
    auto sum = libdeflate_crc32(0, number.data(), number.size());
    // Without an address, which SQLite returns for an empty or missing value, it returns 0.
    if (!changes.empty()) sum = libdeflate_crc32(sum, changes.data(), changes.size());
    return static_cast<std::int64_t>(sum);
}

}  // namespace routemaster::embedded
