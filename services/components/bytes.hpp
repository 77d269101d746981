/// @file
/// Settings that are sizes in bytes, with an optional suffix.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/byte_size.hpp"

namespace routemaster::service {

/// Converts `5MB` to a number of bytes. The validators that run later see the number.
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
