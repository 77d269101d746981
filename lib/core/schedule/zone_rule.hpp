/// @file
/// `ZoneRule`: the yearly changes of a time zone's offset, for all future years.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/schedule/zone_period.hpp"

namespace routemaster::detail {

/// A rule as in the environment variable TZ, for instance `CET-1CEST,M3.5.0,M10.5.0/3`
/// (POSIX.1-2024, 8.3). The time of day of a change may be from -167 to 167 hours (RFC 9636,
/// 3.3.2).
class ZoneRule {
public:
    /// Parses a rule. Nothing when the text is not a rule.
    static std::optional<ZoneRule> parse(std::string_view text);

    /// The period with a constant offset that contains an instant, from the year -10,000 to the
    /// year 10,000. If two changes coincide, the change that is later in the rule applies.
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
        std::int64_t time = 7'200;  ///< Seconds since midnight, by the old clock.
        std::int64_t before = 0;
        std::int64_t offset = 0;

        [[nodiscard]] ZoneStep in(int year) const;
    };

    std::int64_t standard_ = 0;
    /// The changes to daylight saving time and back, in either order within a year. Empty for a
    /// constant offset.
    std::optional<std::array<YearlyStep, 2>> steps_;
};

}  // namespace routemaster::detail
