/// @file
/// Settings that are whole numbers.

#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Accepts a whole number in a range.
template <class Number>
[[nodiscard]] CLI::Validator whole_number(Number least, Number most) {
    const CLI::Range range{least, most};
    return {[range, least, most](std::string& text) {
                if (range(text).empty()) return std::string{};
                return "must be a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most) + ", not '" + text + "'";
            },
            range.get_description()};
}

}  // namespace routemaster::service
