/// @file
/// Parser for byte counts with unit suffixes, as in settings.

#pragma once

#include <cstdint>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster {

/// Parses a whole number of bytes, for example `5000000`, `5MB` or `5M`. The suffixes k, M, G and
/// T are powers of 1000. Ki, Mi, Gi and Ti are powers of 1024. A B may follow the suffix. Upper
/// and lower case are equivalent. `invalid` for any other text, and for numbers of more than 64
/// bits.
[[nodiscard]] Result<std::uint64_t> parse_byte_size(std::string_view text);

}  // namespace routemaster
