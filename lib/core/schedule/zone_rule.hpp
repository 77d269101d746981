/// @file
/// `ZoneRule`: the yearly steps of a time zone, for all future years.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/schedule/zone_period.hpp"

namespace routemaster::detail {

/// A rule as in the environment variable TZ: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX.1-2024, 8.3), with
/// times of a step from -167 to 167 hours (RFC 9636, 3.3.2).
class ZoneRule {
public:
    /// Nothing when the text is not such a rule.
    static std::optional<ZoneRule> parse(std::string_view text);

    /// The period of an instant from the year -10,000 to the year 10,000. Of two steps at an
    /// instant, the later step in the rule counts.
    [[nodiscard]] ZonePeriod at(UnixSeconds instant) const;

private:
    class Parser;

    struct YearlyStep {
        enum class Day : std::uint8_t {
            of_week,             ///< `Mm.w.d`: a weekday of a month; week 5 is the last.
            of_year,             ///< `n`: from 0, in leap years to 365.
            of_year_of_365_days  ///< `Jn`: from 1; February 29 is not counted.
        };
        Day day = Day::of_week;
        int month = 0;  ///< 1 to 12.
        int week = 0;   ///< 1 to 5.
        int number = 0;
        std::int64_t time = 7'200;  ///< Seconds since midnight, by the clock before the step.
        std::int64_t before = 0;    ///< Offset before the step.
        std::int64_t offset = 0;    ///< Offset after the step.

        [[nodiscard]] ZoneStep in(int year) const;
    };

    std::int64_t standard_ = 0;
    /// To daylight saving time and back, in either order within a year.
    std::optional<std::array<YearlyStep, 2>> steps_;
};

}  // namespace routemaster::detail
