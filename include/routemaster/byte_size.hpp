/// @file
/// Numbers of bytes, as people write them.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// Reads a whole number of bytes: `5000000`, or with a suffix `5MB` or `5M`, in which k, M, G and T
/// stand for powers of 1000, and Ki, Mi, Gi and Ti for powers of 1024, each with or without a B, in
/// upper or lower case. `invalid` for other texts, and for numbers that exceed 64 bits.
[[nodiscard]] Result<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace routemaster
