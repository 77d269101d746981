/// @file
/// CLI11 validator for settings that are sizes in bytes, with an optional suffix.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/byte_size.hpp"

namespace routemaster::service {

/// Replaces `5MB` by a number of bytes, so that later validators get a number.
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
