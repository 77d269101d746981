/// @file
/// `JobSchedule`: when a recurring job is due, as a cron expression or an interval.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// The times, called ticks, at which a recurring job is due. All ticks are whole seconds.
///
///     "*/10 * * * *"       every ten minutes, at :00, :10 and so on
///     "30 2 * * MON-FRI"   at half past two, from Monday to Friday
///     "15 0 0 1 * *"       with seconds: 15 s after midnight, on the first of each month
///     "@daily"             as "0 0 * * *"; also @yearly, @annually, @monthly, @weekly, @midnight,
///                          @hourly
///     "@every 1h30m"       an interval, of days (d), hours (h), minutes (m) and seconds (s)
///
/// **Cron expressions** have the fields minute, hour, day of the month, month and day of the week.
/// With six fields, the second comes first. A field is `*`, a number, a range `1-5`, a step within
/// a range or within all values (`0-30/10`, `*/2`), or a comma-separated list of these. Months and
/// days of the week may be named (`JAN`, `mon`). Sunday is 0 or 7: `SAT-SUN` is the weekend. No
/// other range wraps around (write `22-23,0-5`), and no step is greater than its field (not `*/90`
/// minutes). If both day of the month and day of the week are restricted, one of them must match
/// (the rule of Vixie's cron). But both must match if either field begins with `*`, even as `*/2`.
///
/// **Time zones.** An expression refers to the wall clock of its zone. If neither second, minute
/// nor hour begins with `*`, the schedule has fixed times. Each fixed time runs once per matching
/// day: if the clock is set forward past it, the tick is the first instant after the change; if the
/// clock is set back and repeats it, the tick is its first occurrence. Any other expression matches
/// the clock as shown: it has no ticks in an hour that is skipped, and ticks in both occurrences of
/// an hour that is repeated. Zones come from the machine's database (/usr/share/zoneinfo), with
/// their rules for all future years.
///
/// **Intervals** count from 1970-01-01T00:00:00Z, so all processes agree on the ticks, and no state
/// is needed. Thus `@every 6h` is at 0, 6, 12 and 18 h UTC. The zone of an interval is always UTC.
///
/// Thread safety: a plain value; concurrent reads are safe.
class JobSchedule {
public:
    /// Parses a schedule. `invalid`, beginning with `schedule:` and naming the field, when the text
    /// is not a schedule, or matches no date. `invalid`, beginning with `time_zone:`, when the zone
    /// is unknown.
    static Result<JobSchedule> parse(std::string_view text, std::string_view time_zone = "UTC");

    /// Parses the schedule of a stored recurring job. Older versions accepted a step greater than
    /// its field, so this function accepts it, too.
    static Result<JobSchedule> parse_stored(std::string_view text, std::string_view time_zone);

    /// Formats an interval for `parse`: `@every 90s`. `parse` rejects an interval that is not in
    /// whole seconds, or not from 1 s to 3,650 days.
    [[nodiscard]] static std::string every(Duration interval);

    /// Returns the first tick after an instant; `never` if there is none before the year 3000.
    [[nodiscard]] TimePoint next(TimePoint after) const;

    /// Returns the last tick at or before an instant; nothing if there is none since the year 1900.
    [[nodiscard]] std::optional<TimePoint> last(TimePoint at) const;

private:
    struct Rule;
    explicit JobSchedule(std::shared_ptr<const Rule> rule) : rule_{std::move(rule)} {}

    std::shared_ptr<const Rule> rule_;
};

}  // namespace routemaster
