/// @file
/// `Measurement`: a metric of the bus at one instant, for monitoring.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace routemaster {

/// Pairs of name and value that identify what was measured.
using MeasurementTags = std::vector<std::pair<std::string, std::string>>;

/// A metric: a kind, a name, a value, and tags.
struct Measurement {
    /// How the values of successive measurements relate.
    enum class Kind {
        gauge,    ///< A current value, which rises and falls.
        counter,  ///< A total, which only increases.
    };

    Kind kind = Kind::gauge;
    std::string name;
    std::int64_t value = 0;
    MeasurementTags tags{};

    friend bool operator==(const Measurement&, const Measurement&) = default;
};

/// Returns the name of a kind: `gauge` or `counter`.
[[nodiscard]] constexpr std::string_view to_string(Measurement::Kind kind) noexcept {
    return kind == Measurement::Kind::gauge ? "gauge" : "counter";
}

/// Formats a measurement as Ruby does: `counter:events.published:3 (topic:cats,publisher:pub)`.
[[nodiscard]] std::string to_string(const Measurement& measurement);

}  // namespace routemaster
