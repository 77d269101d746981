/// @file
/// What is kept of the error that a batch died of.

#pragma once

#include <string_view>

#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// The first `dead_error_max` bytes, without the part of a UTF-8 character at their end.
[[nodiscard]] inline std::string_view kept_error(std::string_view error) noexcept {
    if (error.size() <= dead_error_max) return error;
    auto end = dead_error_max;
    while (end > 0 && (static_cast<unsigned char>(error[end]) & 0xc0U) == 0x80U) --end;
    return error.substr(0, end);
}

}  // namespace routemaster::detail
