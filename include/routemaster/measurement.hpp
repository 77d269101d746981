/// @file
/// A measurement: one number about the bus at one moment, for monitoring.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace routemaster {

/// Names and values that identify what was measured.
using MeasurementTags = std::vector<std::pair<std::string, std::string>>;

/// A measured number.
struct Measurement {
    /// How measurements of one name relate.
    enum class Kind {
        gauge,    ///< The current value; rises and falls.
        counter,  ///< The total since the beginning; only grows.
    };

    Kind kind = Kind::gauge;
    std::string name;
    std::int64_t value = 0;
    MeasurementTags tags{};

    friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// The word for a kind: `gauge` or `counter`.
[[nodiscard]] constexpr std::string_view to_string(Measurement::Kind kind) noexcept {
    return kind == Measurement::Kind::gauge ? "gauge" : "counter";
}

/// A line as Ruby Routemaster prints it: `counter:events.published:3 (topic:cats,publisher:pub)`.
[[nodiscard]] std::string to_string(const Measurement& measurement);

}  // namespace routemaster
