#include "routemaster/job_schedule.hpp"

#include <doctest/doctest.h>

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;

namespace {

/// `2024-03-31 02:30:00` as seconds since the epoch, in UTC.
std::int64_t scheduled_seconds(const std::string& text) {
    std::tm fields{};
    REQUIRE(strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &fields) != nullptr);
    return timegm(&fields);
}

TimePoint utc(const std::string& text) {
    return from_milliseconds(scheduled_seconds(text) * 1'000);
}

std::string in_utc(TimePoint at) {
    if (at == never) return "never";
    const std::time_t seconds = to_milliseconds(at) / 1'000;
    std::tm fields{};
    char text[32];
    gmtime_r(&seconds, &fields);
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &fields);
    return text;
}

JobSchedule schedule(std::string_view text, std::string_view zone = "UTC") {
    auto parsed = JobSchedule::parse(text, zone);
    REQUIRE_MESSAGE(parsed, parsed.error().message());
    return *parsed;
}

/// The next ticks after an instant, in UTC.
std::vector<std::string> ticks(const JobSchedule& of, const std::string& after, int count) {
    std::vector<std::string> all;
    auto at = utc(after);
    for (int i = 0; i < count; ++i) {
        at = of.next(at);
        all.push_back(in_utc(at));
    }
    return all;
}

std::string refusal(std::string_view text, std::string_view zone = "UTC") {
    const auto parsed = JobSchedule::parse(text, zone);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code() == Errc::invalid);
    return parsed.error().context();
}

using Texts = std::vector<std::string>;

/// A field of an expression, and the values that it matches.
struct RandomField {
    std::string text;
    std::vector<bool> matches;
    bool star = false;
};

RandomField random_field(Random& random, int first, int last) {
    RandomField field;
    field.matches.resize(static_cast<std::size_t>(last) + 1);
    const auto any = [&](int from) {
        return from + static_cast<int>(random.below(static_cast<std::uint64_t>(last - from + 1)));
    };
    const auto add = [&](int from, int to, int step) {
        for (int i = from; i <= to; i += step) field.matches[static_cast<std::size_t>(i)] = true;
    };
    const auto items = 1 + random.below(3);
    for (std::uint64_t i = 0; i < items; ++i) {
        if (i > 0) field.text += ',';
        const int from = any(first);
        const int to = any(from);
        const int step = 1 + static_cast<int>(random.below(9));
        switch (random.below(i == 0 ? 5 : 3)) {
            case 0:
                field.text += std::to_string(from);
                add(from, from, 1);
                break;
            case 1:
                field.text += std::to_string(from) + "-" + std::to_string(to);
                add(from, to, 1);
                break;
            case 2:
                field.text +=
                    std::to_string(from) + "-" + std::to_string(to) + "/" + std::to_string(step);
                add(from, to, step);
                break;
            case 3:
                field.text += "*/" + std::to_string(step);
                add(first, last, step);
                field.star = true;
                break;
            default:
                field.text += "*";
                add(first, last, 1);
                field.star = true;
        }
    }
    return field;
}

struct RandomExpression {
    explicit RandomExpression(Random& random)
        : minute{random_field(random, 0, 59)},
          hour{random_field(random, 0, 23)},
          day{random_field(random, 1, 31)},
          month{random_field(random, 1, 12)},
          weekday{random_field(random, 0, 6)} {}

    [[nodiscard]] std::string text() const {
        return minute.text + " " + hour.text + " " + day.text + " " + month.text + " " +
               weekday.text;
    }
    [[nodiscard]] bool matches_date(const std::tm& at) const {
        const bool on_day = day.matches[static_cast<std::size_t>(at.tm_mday)];
        const bool on_weekday = weekday.matches[static_cast<std::size_t>(at.tm_wday)];
        const bool both = day.star || weekday.star;
        return month.matches[static_cast<std::size_t>(at.tm_mon) + 1] &&
               (both ? on_day && on_weekday : on_day || on_weekday);
    }
    [[nodiscard]] bool matches(const std::tm& at) const {
        return minute.matches[static_cast<std::size_t>(at.tm_min)] &&
               hour.matches[static_cast<std::size_t>(at.tm_hour)] && matches_date(at);
    }
    [[nodiscard]] bool matches(std::int64_t clock) const {
        std::tm at{};
        gmtime_r(&clock, &at);
        return matches(at);
    }
    [[nodiscard]] bool is_fixed() const { return !minute.star && !hour.star; }

    RandomField minute, hour, day, month, weekday;
};

/// The C library's interpretation of a zone, as long as this object exists.
class ZoneOfLibc {
public:
    explicit ZoneOfLibc(const char* name) {
        if (const char* before = std::getenv("TZ")) before_ = before;
        setenv("TZ", name, 1);
        tzset();
    }
    ZoneOfLibc(const ZoneOfLibc&) = delete;
    ZoneOfLibc& operator=(const ZoneOfLibc&) = delete;
    ~ZoneOfLibc() {
        before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
        tzset();
    }

    /// The local time, as if it were UTC.
    [[nodiscard]] static std::int64_t clock(std::int64_t instant) {
        std::tm fields{};
        localtime_r(&instant, &fields);
        return timegm(&fields);
    }

private:
    std::optional<std::string> before_;
};

constexpr std::int64_t hour_seconds = 3'600;

/// The instants of changes of the zone's offset, rounded down to an hour.
std::vector<std::int64_t> steps_of_clock(std::int64_t from, std::int64_t to) {
    std::vector<std::int64_t> steps;
    for (auto at = from; at < to; at += hour_seconds) {
        if (ZoneOfLibc::clock(at + hour_seconds) - ZoneOfLibc::clock(at) != hour_seconds) {
            steps.push_back(at);
        }
    }
    return steps;
}

/// The local time of each minute of a period.
std::vector<std::int64_t> clock_of(std::int64_t from, std::int64_t minutes) {
    std::vector<std::int64_t> clock;
    for (std::int64_t i = 0; i < minutes; ++i) clock.push_back(ZoneOfLibc::clock(from + i * 60));
    return clock;
}

/// The ticks of an expression within the minutes of `clock`.
std::vector<std::int64_t> minutes_that_match(const RandomExpression& expression,
                                             const std::vector<std::int64_t>& clock) {
    std::vector<std::int64_t> all;
    auto most = clock.front();
    for (std::size_t i = 1; i < clock.size(); ++i) {
        bool comes = expression.matches(clock[i]);
        if (expression.is_fixed()) {
            comes = comes && clock[i] > most;
            for (auto skipped = most + 60; skipped < clock[i]; skipped += 60) {
                comes = comes || expression.matches(skipped);
            }
        }
        most = std::max(most, clock[i]);
        if (comes) all.push_back(static_cast<std::int64_t>(i));
    }
    return all;
}

}  // namespace

TEST_CASE("a cron expression names minutes, hours, days, months and days of the week") {
    CHECK(ticks(schedule("*/20 * * * *"), "2024-01-01 00:59:59", 4) ==
          Texts{"2024-01-01 01:00:00", "2024-01-01 01:20:00", "2024-01-01 01:40:00",
                "2024-01-01 02:00:00"});
    CHECK(ticks(schedule("30 2 * * MON-FRI"), "2024-03-01 02:30:00", 3) ==
          Texts{"2024-03-04 02:30:00", "2024-03-05 02:30:00", "2024-03-06 02:30:00"});
    CHECK(ticks(schedule("0 0 29 feb *"), "2024-02-29 00:00:00", 2) ==
          Texts{"2028-02-29 00:00:00", "2032-02-29 00:00:00"});
    CHECK(ticks(schedule("0 12 31 1-6/2,dec *"), "2024-01-01 00:00:00", 4) ==
          Texts{"2024-01-31 12:00:00", "2024-03-31 12:00:00", "2024-05-31 12:00:00",
                "2024-12-31 12:00:00"});
    CHECK(ticks(schedule("10-30/10,59 8 1 1 *"), "2024-01-01 08:20:00", 3) ==
          Texts{"2024-01-01 08:30:00", "2024-01-01 08:59:00", "2025-01-01 08:10:00"});
    CHECK(ticks(schedule("\t0  9 * *\t7 "), "2024-03-02 00:00:00", 1) ==
          Texts{"2024-03-03 09:00:00"});
    CHECK(ticks(schedule("0 9 * * fri-7"), "2024-03-01 09:00:00", 3) ==
          Texts{"2024-03-02 09:00:00", "2024-03-03 09:00:00", "2024-03-08 09:00:00"});
    CHECK(ticks(schedule("0 9 * * 0,sat"), "2024-03-01 00:00:00", 2) ==
          Texts{"2024-03-02 09:00:00", "2024-03-03 09:00:00"});
}

TEST_CASE("Sunday may begin or end a range of days of the week") {
    // A Monday.
    const std::string from = "2024-01-01 00:00:00";
    const auto days = [&](std::string_view range) {
        std::string week;
        for (const auto& tick : ticks(schedule("0 9 * * " + std::string{range}), from, 7)) {
            if (tick < "2024-01-08") week += tick.substr(8, 2) + " ";
        }
        return week;
    };
    CHECK(days("SAT-SUN") == "06 07 ");
    CHECK(days("sat-0") == "06 07 ");
    CHECK(days("WED-SUN") == "03 04 05 06 07 ");
    CHECK(days("MON-SUN") == "01 02 03 04 05 06 07 ");
    CHECK(days("5-0") == "05 06 07 ");
    CHECK(days("WED-SUN/2") == "03 05 07 ");
    CHECK(days("MON,FRI-SUN") == "01 05 06 07 ");
    CHECK(days("SUN-TUE") == "01 02 07 ");
    CHECK(days("7-2") == "01 02 07 ");
    for (const char* sunday : {"SUN-SUN", "0-0", "7-7", "7-0", "*/7"}) {
        CAPTURE(sunday);
        CHECK(days(sunday) == "07 ");
    }
    CHECK(days("0-7") == "01 02 03 04 05 06 07 ");
}

TEST_CASE("a step in a cron expression is no greater than the range of its field") {
    CHECK(refusal("*/90 * * * *") ==
          "schedule: minute: '*/90' matches only 0, as its step is more than 60");
    CHECK(refusal("10-20/61 * * * *") ==
          "schedule: minute: '10-20/61' matches only 10, as its step is more than 60");
    CHECK(refusal("*/61 0 0 * * *").starts_with("schedule: second: '*/61' matches only 0"));
    CHECK(refusal("0 */25 * * *").starts_with("schedule: hour: '*/25' matches only 0"));
    CHECK(refusal("0 0 */32 * *").starts_with("schedule: day of the month: '*/32'"));
    CHECK(refusal("0 0 1 */13 *").starts_with("schedule: month: '*/13' matches only 1"));
    CHECK(refusal("0 0 * * */8").starts_with("schedule: day of the week: '*/8'"));
    const std::string from = "2024-01-01 00:00:00";
    CHECK(ticks(schedule("*/60 * * * *"), from, 1) == Texts{"2024-01-01 01:00:00"});
    CHECK(ticks(schedule("0 */24 * * *"), from, 1) == Texts{"2024-01-02 00:00:00"});
    CHECK(ticks(schedule("0 0 */31 * *"), from, 1) == Texts{"2024-02-01 00:00:00"});
    CHECK(ticks(schedule("0 0 1 */12 *"), from, 1) == Texts{"2025-01-01 00:00:00"});
    // An expression stored by an older version keeps its meaning.
    const auto stored = JobSchedule::parse_stored("*/90 * * * *", "UTC");
    REQUIRE(stored);
    CHECK(ticks(*stored, from, 2) == Texts{"2024-01-01 01:00:00", "2024-01-01 02:00:00"});
}

TEST_CASE(
    "syntax that only other cron programs support is refused, and the error names the syntax") {
    for (const char* days : {"L", "LW", "15W", "?", "0 0 ? * MON"}) {
        CAPTURE(days);
        const std::string text = days;
        const auto complaint = refusal(text.size() > 3 ? text : "0 0 " + text + " * *");
        CHECK(complaint.starts_with("schedule: day of the month: "));
        CHECK(complaint.ends_with("is Quartz syntax: L, W, # and ? are not supported"));
    }
    CHECK(refusal("0 0 * * FRI#2")
              .ends_with("'FRI#2' is Quartz syntax: L, W, # and ? are not supported"));
    CHECK(
        refusal("0 0 * * 5L").ends_with("'5L' is Quartz syntax: L, W, # and ? are not supported"));
    CHECK(refusal("0 0 1 APRIL *").ends_with("nor from JAN to DEC"));
}

TEST_CASE("an optional sixth field at the front of a cron expression has the seconds") {
    CHECK(ticks(schedule("*/20 59 23 * * *"), "2024-01-01 23:59:20", 3) ==
          Texts{"2024-01-01 23:59:40", "2024-01-02 23:59:00", "2024-01-02 23:59:20"});
    CHECK(ticks(schedule("15 0 0 1 * *"), "2024-01-01 00:00:15", 1) ==
          Texts{"2024-02-01 00:00:15"});
    CHECK(schedule("* * * * * *").next(from_milliseconds(1'999)) == from_milliseconds(2'000));
    CHECK(schedule("* * * * * *").next(from_milliseconds(2'000)) == from_milliseconds(3'000));
    CHECK(schedule("* * * * * *").last(from_milliseconds(2'999)) == from_milliseconds(2'000));
    CHECK(schedule("* * * * * *").last(from_milliseconds(-1)) == from_milliseconds(-1'000));
}

TEST_CASE("a cron day needs either day field to match, or both fields if one begins with a star") {
    CHECK(ticks(schedule("0 0 13 * FRI"), "2024-09-01 00:00:00", 3) ==
          Texts{"2024-09-06 00:00:00", "2024-09-13 00:00:00", "2024-09-20 00:00:00"});
    CHECK(ticks(schedule("0 0 */10 * FRI"), "2024-09-01 00:00:00", 2) ==
          Texts{"2024-10-11 00:00:00", "2024-11-01 00:00:00"});
    CHECK(ticks(schedule("0 0 13 * */5"), "2024-09-01 00:00:00", 2) ==
          Texts{"2024-09-13 00:00:00", "2024-10-13 00:00:00"});
}

TEST_CASE("words such as @daily stand for common cron expressions") {
    const std::string from = "2024-05-15 10:30:00";
    CHECK(ticks(schedule("@hourly"), from, 1) == Texts{"2024-05-15 11:00:00"});
    CHECK(ticks(schedule("@daily"), from, 1) == Texts{"2024-05-16 00:00:00"});
    CHECK(ticks(schedule("@midnight"), from, 1) == Texts{"2024-05-16 00:00:00"});
    CHECK(ticks(schedule("@weekly"), from, 1) == Texts{"2024-05-19 00:00:00"});
    CHECK(ticks(schedule("@Monthly"), from, 1) == Texts{"2024-06-01 00:00:00"});
    CHECK(ticks(schedule("@yearly"), from, 1) == Texts{"2025-01-01 00:00:00"});
    CHECK(ticks(schedule("@annually"), from, 1) == Texts{"2025-01-01 00:00:00"});
}

TEST_CASE("the ticks of an interval are counted from the Unix epoch") {
    const auto ninety = schedule("@every 1m30s");
    CHECK(ninety.next(from_milliseconds(0)) == from_milliseconds(90'000));
    CHECK(ninety.next(from_milliseconds(89'999)) == from_milliseconds(90'000));
    CHECK(ninety.next(from_milliseconds(90'000)) == from_milliseconds(180'000));
    CHECK(ninety.last(from_milliseconds(179'999)) == from_milliseconds(90'000));
    CHECK(ninety.next(from_milliseconds(-1)) == from_milliseconds(0));
    CHECK(ninety.last(from_milliseconds(-1)) == from_milliseconds(-90'000));
    CHECK(ticks(schedule("@every 6h"), "2024-03-31 00:00:01", 2) ==
          Texts{"2024-03-31 06:00:00", "2024-03-31 12:00:00"});
    for (const char* text : {"@EVERY 6h", "@Every\t6h", " @every  6h "}) {
        CAPTURE(text);
        CHECK(ticks(schedule(text), "2024-03-31 00:00:01", 1) == Texts{"2024-03-31 06:00:00"});
    }
    CHECK(ticks(schedule(" @daily "), "2024-03-31 00:00:01", 1) == Texts{"2024-04-01 00:00:00"});
    CHECK(JobSchedule::every(Duration{90'000}) == "@every 90s");
    CHECK(schedule(JobSchedule::every(Duration{1'000})).next(from_milliseconds(0)) ==
          from_milliseconds(1'000));
    CHECK(schedule("@every 3650d").next(utc("2024-01-01 00:00:00")) == utc("2029-12-17 00:00:00"));
}

TEST_CASE("an invalid schedule is refused, and the error names the field") {
    CHECK(refusal("60 * * * *") == "schedule: minute: '60' is not from 0 to 59");
    CHECK(refusal("* 24 * * *") == "schedule: hour: '24' is not from 0 to 23");
    CHECK(refusal("* * 0 * *") == "schedule: day of the month: '0' is not from 1 to 31");
    CHECK(refusal("* * * 13 *") ==
          "schedule: month: '13' is not from 1 to 12, nor from JAN to DEC");
    CHECK(refusal("* * * * 8") ==
          "schedule: day of the week: '8' is not from 0 to 7, nor from SUN to SAT");
    CHECK(refusal("60 * * * * *") == "schedule: second: '60' is not from 0 to 59");
    CHECK(refusal("* * * * MONDAY").starts_with("schedule: day of the week: 'MONDAY' is not"));
    CHECK(refusal("5-3 * * * *") ==
          "schedule: minute: '5-3' ends before it begins; write 5-59,0-3");
    CHECK(refusal("* * * * FRI-MON") ==
          "schedule: day of the week: 'FRI-MON' ends before it begins; write 5-6,0-1");
    CHECK(refusal("* * * NOV-FEB *") ==
          "schedule: month: 'NOV-FEB' ends before it begins; write 11-12,1-2");
    CHECK(refusal("*/0 * * * *") == "schedule: minute: '*/0' has a step that is not at least 1");
    CHECK(refusal("*/ * * * *") == "schedule: minute: '*/' has a step that is not at least 1");
    CHECK(refusal("5/10 * * * *") == "schedule: minute: '5/10' has a step, but no range and no *");
    for (const char* part : {",", "1,", "-", "1-", "-1", "1-2-3", "*-5", "**", "?", "L", "1.5",
                             "+1", "99999999999999999999", "*/-1", "*/1/2", "\x01"}) {
        CAPTURE(part);
        CHECK(refusal(std::string{part} + " * * * *").starts_with("schedule: minute: "));
    }
    for (const char* text : {"", " ", "* * * *", "* * * * * * *", "every day"}) {
        CAPTURE(text);
        CHECK(refusal(text).find("must have the five fields") != std::string::npos);
    }
    CHECK(refusal("@reboot").starts_with("schedule: '@reboot' is none of @yearly"));
    // Other programs take a time zone in the schedule.
    for (const char* text : {"TZ= 0 9 * * *", "TZ=Nowhere 0 9 * * *", "CRON_TZ=UTC @daily",
                             "TZ=Europe/Berlin @every 1h", "0 9 * * * Europe/Berlin"}) {
        CAPTURE(text);
        CHECK(refusal(text).ends_with(
            "' is a time zone: set time_zone instead, such as Europe/Berlin"));
    }
    CHECK(refusal(std::string(1'000'000, 'x')).size() < 300);
    CHECK(refusal(std::string(1'000'000, 'x') + " * * * *").size() < 300);
}

TEST_CASE("cron expressions for dates that never occur are refused") {
    CHECK(refusal("0 0 31 2,4,6,9,11 *") ==
          "schedule: '0 0 31 2,4,6,9,11 *' is a date that never occurs");
    CHECK(refusal("0 0 30 2 *").ends_with("never occurs"));
    // Rare ticks are found.
    CHECK(ticks(schedule("0 0 29 2 */6"), "2025-01-01 00:00:00", 1) ==
          Texts{"2032-02-29 00:00:00"});
    CHECK(schedule("0 0 29 2 *").next(utc("2096-03-01 00:00:00")) == utc("2104-02-29 00:00:00"));
}

TEST_CASE("an invalid interval of a recurring job is refused") {
    for (const char* text :
         {"@every", "@every ", "@every 0s", "@every 10", "@every s", "@every -1s", "@every 1s1h",
          "@every 1h1h", "@every 1.5s", "@every 3651d", "@every 99999999999999999999s",
          "@every 100ms", "@every 1 h"}) {
        CAPTURE(text);
        CHECK(refusal(text).find("must be an interval from 1s to 3650d") != std::string::npos);
    }
    const auto why = [](std::string_view text) {
        const auto complaint = refusal(text);
        return complaint.substr(complaint.find("; ") + 2);
    };
    CHECK(why("@every 1h30") == "'30' has no unit: d, h, m or s");
    CHECK(why("@every 1w") == "'1w' has none of the units d, h, m and s");
    CHECK(why("@every 1.5s") == "'1.5s' has none of the units d, h, m and s");
    CHECK(why("@every h") == "'h' does not begin with a number");
    CHECK(why("@every 100ms") == "'s' does not begin with a number");
    CHECK(why("@every 1s1h") == "the units must be in the order d, h, m, s, each once");
    CHECK(why("@every 3651d") == "the interval is longer");
    CHECK(why("@every 3650d1s") == "the interval is longer");
    CHECK(why("@every 99999999999999999999d") == "the interval is longer");
    CHECK(why("@every 0s") == "the interval is 0");
    CHECK(why("@EVERY") == "the interval is 0");
    for (const auto interval : {Duration{0}, Duration{-1'000}, Duration{1'500}, Duration{999}}) {
        CHECK_FALSE(JobSchedule::parse(JobSchedule::every(interval)));
    }
    CHECK(refusal("@every 1h", "Europe/Berlin") == "time_zone: must be UTC for an interval");
}

TEST_CASE("an unknown time zone is refused") {
    for (const char* zone :
         {"", "Berlin", "Europe/Atlantis", "../zoneinfo/UTC", "europe/berlin", "localtime",
          "posixrules", "/usr/share/zoneinfo/UTC", "Europe", "Europe/", "Europe//Berlin/",
          "tzdata.zi", "zone.tab", "leapseconds", "right/Europe/Berlin", "posix/Europe/Berlin",
          "Europe/../Europe/Berlin"}) {
        CAPTURE(zone);
        CHECK(refusal("@daily", zone).starts_with("time_zone: this machine has no zone"));
    }
    CHECK(refusal("@daily", std::string(1'000'000, 'x')).size() < 300);
    // Foreign text is shown as one line.
    CHECK(refusal("@daily", std::string{"U\0T\nC", 5}) ==
          "time_zone: this machine has no zone 'U?T?C'; names look like Europe/Berlin and UTC");
    CHECK(refusal(std::string{"@every \0", 8}).starts_with("schedule: '@every ?' must be"));
}

TEST_CASE("very distant instants have no tick, and the search for a tick is bounded") {
    CHECK(schedule("@daily").next(never) == never);
    CHECK(schedule("@daily", "Europe/Berlin").next(TimePoint::max() - Duration{1}) == never);
    CHECK_FALSE(schedule("@daily").last(TimePoint::min()));
    CHECK(schedule("@daily").next(TimePoint::min()) > utc("1800-01-01 00:00:00"));
}

TEST_CASE("a fixed time inside a skipped hour runs at the first instant after the hour") {
    // In Berlin, 02:00 to 03:00 is skipped on this day, at 01:00 UTC.
    const auto half_past_two = schedule("30 2 * * *", "Europe/Berlin");
    CHECK(ticks(half_past_two, "2024-03-29 12:00:00", 3) ==
          Texts{"2024-03-30 01:30:00", "2024-03-31 01:00:00", "2024-04-01 00:30:00"});
    CHECK(half_past_two.last(utc("2024-03-31 00:59:59")) == utc("2024-03-30 01:30:00"));
    CHECK(half_past_two.last(utc("2024-03-31 01:00:00")) == utc("2024-03-31 01:00:00"));
    // Several skipped times are one tick, together with the first time after the step.
    CHECK(ticks(schedule("0,30 2,3 * * *", "Europe/Berlin"), "2024-03-31 00:00:00", 3) ==
          Texts{"2024-03-31 01:00:00", "2024-03-31 01:30:00", "2024-04-01 00:00:00"});
}

TEST_CASE("a fixed time inside a repeated hour runs only the first time") {
    // In Berlin, 02:00 to 03:00 occurs twice on this day, from 00:00 UTC on.
    const auto half_past_two = schedule("30 2 * * *", "Europe/Berlin");
    CHECK(ticks(half_past_two, "2024-10-26 12:00:00", 2) ==
          Texts{"2024-10-27 00:30:00", "2024-10-28 01:30:00"});
    CHECK(half_past_two.last(utc("2024-10-27 01:10:00")) == utc("2024-10-27 00:30:00"));
    CHECK(half_past_two.last(utc("2024-10-27 02:10:00")) == utc("2024-10-27 00:30:00"));
}

TEST_CASE("a time zone keeps its rules after the year 2037") {
    const auto noon = schedule("0 12 * * *", "Europe/Berlin");
    CHECK(ticks(noon, "2050-01-01 00:00:00", 1) == Texts{"2050-01-01 11:00:00"});
    CHECK(ticks(noon, "2050-07-01 00:00:00", 1) == Texts{"2050-07-01 10:00:00"});
    CHECK(noon.last(utc("2050-07-01 10:00:00")) == utc("2050-07-01 10:00:00"));
    CHECK(ticks(schedule("30 2 * * *", "Europe/Berlin"), "2050-03-26 12:00:00", 2) ==
          Texts{"2050-03-27 01:00:00", "2050-03-28 00:30:00"});
    CHECK(ticks(schedule("*/30 2 * * *", "Europe/Berlin"), "2050-10-29 12:00:00", 5) ==
          Texts{"2050-10-30 00:00:00", "2050-10-30 00:30:00", "2050-10-30 01:00:00",
                "2050-10-30 01:30:00", "2050-10-31 01:00:00"});
    CHECK(ticks(schedule("0 0 29 2 *", "Australia/Lord_Howe"), "2099-01-01 00:00:00", 1) ==
          Texts{"2104-02-28 13:00:00"});
}

TEST_CASE("an interval is not affected by changes to and from daylight saving time") {
    const auto rhythm = schedule("*/30 * * * *", "Europe/Berlin");
    CHECK(ticks(rhythm, "2024-03-31 00:00:00", 3) ==
          Texts{"2024-03-31 00:30:00", "2024-03-31 01:00:00", "2024-03-31 01:30:00"});
    CHECK(ticks(rhythm, "2024-10-27 00:00:00", 4) ==
          Texts{"2024-10-27 00:30:00", "2024-10-27 01:00:00", "2024-10-27 01:30:00",
                "2024-10-27 02:00:00"});
    // An expression with a step (`*/30`) has no tick in a skipped hour.
    CHECK(ticks(schedule("*/30 2 * * *", "Europe/Berlin"), "2024-03-30 12:00:00", 1) ==
          Texts{"2024-04-01 00:00:00"});
}

TEST_CASE("next and last ticks agree with a walk by minutes around each clock change") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    const auto from = scheduled_seconds("2023-01-01 00:00:00");
    const auto to = scheduled_seconds("2027-01-01 00:00:00");
    constexpr std::int64_t minutes = 4 * 24 * 60;
    for (const char* zone : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                             "Africa/Casablanca", "Asia/Kolkata"}) {
        CAPTURE(zone);
        const ZoneOfLibc libc{zone};
        auto steps = steps_of_clock(from, to);
        if (steps.empty()) steps.push_back(from);
        for (const auto step : steps) {
            const auto begin = step - 2 * 24 * hour_seconds;
            const auto clock = clock_of(begin, minutes);
            for (int n = 0; n < 12; ++n) {
                RandomExpression expression{random};
                // With a random month, few expressions would match at all.
                expression.month = {"*", std::vector<bool>(13, true), true};
                const auto text = expression.text();
                CAPTURE(text);
                const auto parsed = JobSchedule::parse(text, zone);
                if (!parsed) continue;
                const auto expected = minutes_that_match(expression, clock);
                const auto at = [&](std::int64_t minute) {
                    return from_milliseconds((begin + minute * 60) * 1'000);
                };
                auto tick = at(0);
                for (const auto minute : expected) {
                    const auto next = parsed->next(tick);
                    REQUIRE(in_utc(next) == in_utc(at(minute)));
                    if (next > tick) REQUIRE(parsed->last(next - Duration{1}) <= tick);
                    REQUIRE(parsed->last(next) == next);
                    tick = next;
                }
                REQUIRE(parsed->next(tick) >= at(minutes));
                if (!expected.empty()) REQUIRE(parsed->last(at(minutes - 1)) == tick);
            }
        }
    }
}

TEST_CASE("the days of a cron expression agree with a walk through the calendar") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    const auto begin = scheduled_seconds("2019-12-31 00:00:00");
    constexpr std::int64_t day = 86'400;
    for (int n = 0; n < 100; ++n) {
        RandomExpression expression{random};
        const auto text = expression.text();
        CAPTURE(text);
        const auto parsed = JobSchedule::parse(text);
        if (!parsed) continue;
        for (std::int64_t i = 0; i < 366 * 5; ++i) {
            const std::time_t midnight = begin + i * day;
            std::tm fields{};
            gmtime_r(&midnight, &fields);
            const auto before = from_milliseconds(midnight * 1'000 - 1);
            const auto next = parsed->next(before);
            const auto end = from_milliseconds((midnight + day) * 1'000);
            REQUIRE((next < end) == expression.matches_date(fields));
            REQUIRE((parsed->last(end - Duration{1}) > before) == (next < end));
        }
    }
}
