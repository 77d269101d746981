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

/// The instants, called ticks, at which something recurs. All are whole seconds.
///
///     "*/10 * * * *"       every ten minutes, at :00, :10 and so on
///     "30 2 * * MON-FRI"   at half past two, from Monday to Friday
///     "15 0 0 1 * *"       with seconds: 15 s after midnight, on the first of each month
///     "@daily"             as "0 0 * * *"; so @yearly, @annually, @monthly, @weekly, @midnight,
///                          @hourly
///     "@every 1h30m"       an interval, of days (d), hours (h), minutes (m) and seconds (s)
///
/// **Cron expressions** have the fields minute, hour, day of the month, month and day of the week,
/// and, if they are six, the second in front. A field is `*`, a number, a range `1-5`, a step in a
/// range or of all (`0-30/10`, `*/2`), or a list of these with commas. Months and days of the week
/// may be named (`JAN`, `mon`), and Sunday is 0 or 7: `SAT-SUN` is the weekend. No other range
/// wraps around (write `22-23,0-5`), and no step is greater than its field (`*/90` of minutes). Of
/// day of the month and day of the week, when both are restricted, one must match (the rule of
/// Vixie's cron); when one of them begins with `*`, be it `*/2`, both must.
///
/// **Time zones.** An expression is about the wall clock of its zone. Where neither second, minute
/// nor hour begins with `*` the time is fixed, and each of its times comes once: one that a step
/// forward of the clock leaves out comes at the first instant after the step, and one that a step
/// back repeats comes the first time. Any other expression is a rhythm: it matches whatever the
/// clock shows, so nothing in what is left out, and both times in what is repeated. Zones are those
/// of the machine's database (/usr/share/zoneinfo), with their rules for all years to come.
///
/// **Intervals** are counted from 1970-01-01T00:00:00Z, so that all processes agree on them, and no
/// state is needed. Thus `@every 6h` is at 0, 6, 12 and 18 h UTC. They have no zone but UTC.
///
/// Thread safety: a value.
class JobSchedule {
public:
    /// Reads a schedule. `invalid`, beginning with `schedule:` and naming the field, when the text
    /// is none, or no such date ever comes; beginning with `time_zone:` when the zone is not known.
    static Result<JobSchedule> parse(std::string_view text, std::string_view time_zone = "UTC");

    /// The same of a recurring job in a store, which an older version may have put there: a step
    /// may be greater than its field.
    static Result<JobSchedule> parse_stored(std::string_view text, std::string_view time_zone);

    /// The text of an interval, for `parse`: `@every 90s`. What is no whole number of seconds, or
    /// not from 1 s to 3,650 days, `parse` refuses.
    [[nodiscard]] static std::string every(Duration interval);

    /// The first tick after an instant. `never` when none comes within centuries.
    [[nodiscard]] TimePoint next(TimePoint after) const;

    /// The last tick that is not after an instant.
    [[nodiscard]] std::optional<TimePoint> last(TimePoint at) const;

private:
    struct Rule;
    explicit JobSchedule(std::shared_ptr<const Rule> rule) : rule_{std::move(rule)} {}

    std::shared_ptr<const Rule> rule_;
};

}  // namespace routemaster
