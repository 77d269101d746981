/// @file
/// Makes texts of clients safe for log lines.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/codec/cut_text.hpp"
#include "routemaster/printable_text.hpp"

namespace routemaster::detail {

/// The first `most` bytes of a client's text, made printable by `printable_text`. A truncated text
/// ends with "...".
[[nodiscard]] inline std::string log_text(std::string_view text, std::size_t most) {
    auto line = printable_text(cut_text(text, most));
    return text.size() > most ? line + "..." : line;
}

}  // namespace routemaster::detail
