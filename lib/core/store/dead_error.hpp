/// @file
/// The stored part of the error that made a batch DEAD.

#pragma once

#include <string_view>

#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// The first `dead_error_max` bytes, without an incomplete UTF-8 character at their end.
[[nodiscard]] inline std::string_view kept_error(std::string_view error) noexcept {
    if (error.size() <= dead_error_max) return error;
    auto end = dead_error_max;
    while (end > 0 && (static_cast<unsigned char>(error[end]) & 0xc0U) == 0x80U) --end;
    return error.substr(0, end);
}

}  // namespace routemaster::detail
