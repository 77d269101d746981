/// @file
/// Parses numbers of bytes as people write them.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// Parses a whole number of bytes: `5000000`, or with a suffix `5MB` or `5M`. The suffixes k, M, G
/// and T are powers of 1000; Ki, Mi, Gi and Ti are powers of 1024. A B after the suffix is
/// optional. Upper and lower case are equal. `invalid` for any other text, and for numbers beyond
/// 64 bits.
[[nodiscard]] Result<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace routemaster
