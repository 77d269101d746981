/// @file
/// CLI11 validator for settings that are durations in seconds.

#pragma once

#include <cmath>
#include <iomanip>
#include <sstream>
#include <string>

#include <CLI/CLI.hpp>

#include "routemaster/time.hpp"

namespace routemaster::service {

/// Converts seconds, validated by `seconds`, to whole milliseconds.
[[nodiscard]] inline Duration from_seconds(double seconds) {
    return Duration{std::llround(seconds * 1'000)};
}

/// Validates a number of seconds in a range, by default from a millisecond to ten minutes.
/// `CLI::Range` alone would accept `nan`, because both of its comparisons are false for `nan`.
[[nodiscard]] inline CLI::Validator seconds(double least = 0.001, double most = 600.0) {
    const CLI::Range range{least, most};
    return {[range, least, most](std::string& text) {
                double number = 0;
                const bool read = CLI::detail::lexical_cast(text, number);
                if (read && !std::isnan(number) && range(text).empty()) return std::string{};
                std::ostringstream why;
                why << std::setprecision(15) << "must be a number of seconds from " << least
                    << " to " << most << ", not '" << text << '\'';
                return why.str();
            },
            range.get_description()};
}

}  // namespace routemaster::service
