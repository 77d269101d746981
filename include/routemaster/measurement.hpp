/// @file
/// `Measurement`: one number about the bus at one moment, for monitoring.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace routemaster {

/// Pairs of name and value that identify the measured object.
using MeasurementTags = std::vector<std::pair<std::string, std::string>>;

/// A measured number.
struct Measurement {
    /// How successive measurements of one name relate.
    enum class Kind {
        gauge,    ///< The current value, which rises and falls.
        counter,  ///< The total since the beginning, which only grows.
    };

    Kind kind = Kind::gauge;
    std::string name;
    std::int64_t value = 0;
    MeasurementTags tags{};

    friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// The name of a kind: `gauge` or `counter`.
[[nodiscard]] constexpr std::string_view to_string(Measurement::Kind kind) noexcept {
    return kind == Measurement::Kind::gauge ? "gauge" : "counter";
}

/// The line that Ruby Routemaster prints: `counter:events.published:3 (topic:cats,publisher:pub)`.
[[nodiscard]] std::string to_string(const Measurement& measurement);

}  // namespace routemaster
