/// @file
/// Sizes in bytes with a suffix.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/byte_size.hpp"

namespace routemaster::service {

/// Converts `5MB` to a number, for later checks.
[[nodiscard]] inline CLI::Validator bytes() {
    return {[](std::string& text) {
                const auto size = parse_byte_size(text);
                if (!size) return size.error().context();
                text = std::to_string(*size);
                return std::string{};
            },
            "", "bytes"};
}

}  // namespace routemaster::service
