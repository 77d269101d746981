/// @file
/// Truncates the error that made a batch DEAD, for storage.

#pragma once

#include <string_view>

#include "core/codec/cut_text.hpp"
#include "routemaster/batch.hpp"

namespace routemaster::detail {

/// The first `dead_error_max` bytes, without an incomplete UTF-8 character at the end.
[[nodiscard]] inline std::string_view kept_error(std::string_view error) noexcept {
    return cut_text(error, dead_error_max);
}

}  // namespace routemaster::detail
