#include "routemaster/job_schedule.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "core/schedule/cron_fields.hpp"
#include "core/schedule/quoted.hpp"
#include "core/schedule/time_zone.hpp"

namespace routemaster {
namespace {

using detail::UnixSeconds;

constexpr std::string_view interval_word = "@every";
constexpr std::int64_t interval_max = std::int64_t{3'650} * 86'400;

/// Schedules are searched for ticks between the years 1900 and 3000 only.
constexpr UnixSeconds search_begin = -2'208'988'800;
constexpr UnixSeconds search_end = 32'503'680'000;

Error bad_interval(std::string_view text, std::string_view why) {
    return {Errc::invalid, "schedule: " + detail::quoted(text) +
                               " must be an interval from 1s to 3650d, such as @every 1h30m; " +
                               std::string{why}};
}

std::int64_t unit_seconds(char unit) {
    switch (unit) {
        case 'd': return 86'400;
        case 'h': return 3'600;
        case 'm': return 60;
        case 's': return 1;
        default: return 0;
    }
}

/// Parses an interval such as `1d12h30m5s`. Units are in descending order, each at most once. An
/// error quotes `text`, the whole schedule.
Result<std::int64_t> interval_of(std::string_view rest, std::string_view text) {
    constexpr std::string_view too_long = "the interval is longer";
    std::int64_t sum = 0;
    auto unit_before = interval_max;
    while (!rest.empty()) {
        std::int64_t number = 0;
        const auto* const end = rest.data() + rest.size();
        const auto read = std::from_chars(rest.data(), end, number);
        if (read.ec == std::errc::invalid_argument || rest.front() == '-') {
            return bad_interval(text, detail::quoted(rest) + " does not begin with a number");
        }
        if (read.ptr == end) {
            return bad_interval(text, detail::quoted(rest) + " has no unit: d, h, m or s");
        }
        const auto unit = unit_seconds(*read.ptr);
        if (unit == 0) {
            return bad_interval(text,
                                detail::quoted(rest) + " has none of the units d, h, m and s");
        }
        if (unit >= unit_before) {
            return bad_interval(text, "the units must be in the order d, h, m, s, each once");
        }
        if (read.ec != std::errc{} || number > interval_max / unit)
            return bad_interval(text, too_long);
        sum += number * unit;
        unit_before = unit;
        rest.remove_prefix(static_cast<std::size_t>(read.ptr - rest.data()) + 1);
    }
    if (sum > interval_max) return bad_interval(text, too_long);
    if (sum < 1) return bad_interval(text, "the interval is 0");
    return sum;
}

std::int64_t floor_to(std::int64_t number, std::int64_t multiple) {
    const auto rest = number % multiple;
    return number - rest - (rest < 0 ? multiple : 0);
}

TimePoint from_seconds(UnixSeconds at) { return from_milliseconds(at * 1'000); }

UnixSeconds to_seconds(TimePoint at) {
    const auto near = std::clamp(at, from_seconds(search_begin), from_seconds(search_end));
    return floor_to(to_milliseconds(near), 1'000) / 1'000;
}

}  // namespace

struct JobSchedule::Rule {
    std::int64_t interval = 0;  ///< In seconds; 0: use `fields`.
    detail::CronFields fields{};
    detail::TimeZone zone{};

    static Result<Rule> parse(std::string_view text, std::string_view time_zone,
                              detail::CronSteps steps);

    [[nodiscard]] std::optional<UnixSeconds> next(UnixSeconds after) const {
        if (interval != 0) return floor_to(after, interval) + interval;
        return fields.is_fixed() ? next_fixed(after) : next_of_rhythm(after);
    }

    [[nodiscard]] std::optional<UnixSeconds> last(UnixSeconds at) const {
        if (interval != 0) return floor_to(at, interval);
        return fields.is_fixed() ? last_fixed(at) : last_of_rhythm(at);
    }

private:
    /// The next tick of a schedule with `*` in its time of day. Such a schedule also matches each
    /// local time that occurs twice because the clock is set back.
    [[nodiscard]] std::optional<UnixSeconds> next_of_rhythm(UnixSeconds after) const {
        while (after < search_end) {
            const auto period = zone.at(after + 1);
            const auto local = fields.next(after + period.offset);
            if (!local) return std::nullopt;
            if (*local - period.offset < period.end) return *local - period.offset;
            after = period.end - 1;
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<UnixSeconds> last_of_rhythm(UnixSeconds at) const {
        while (at > search_begin) {
            const auto period = zone.at(at);
            const auto local = fields.last(at + period.offset);
            if (!local) return std::nullopt;
            if (*local - period.offset >= period.begin) return *local - period.offset;
            at = period.begin - 1;
        }
        return std::nullopt;
    }

    /// The next tick of a schedule with a fixed time of day. If the clock is set back and shows a
    /// local time twice, only the first instant counts.
    [[nodiscard]] std::optional<UnixSeconds> next_fixed(UnixSeconds after) const {
        auto local = fields.next(after + zone.at(after).offset);
        while (local) {
            if (const auto instant = zone.first_instant(*local); instant > after) return instant;
            local = fields.next(*local);
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<UnixSeconds> last_fixed(UnixSeconds at) const {
        const auto period = zone.at(at);
        // If the clock was set back at the beginning of this period, it has already shown later
        // local times. The search starts at the latest local time shown so far.
        auto shown = at + period.offset;
        if (period.begin > search_begin) {
            shown = std::max(shown, period.begin - 1 + zone.at(period.begin - 1).offset);
        }
        auto local = fields.last(shown);
        while (local) {
            if (const auto instant = zone.first_instant(*local); instant <= at) return instant;
            local = fields.last(*local - 1);
        }
        return std::nullopt;
    }
};

Result<JobSchedule::Rule> JobSchedule::Rule::parse(std::string_view text,
                                                   std::string_view time_zone,
                                                   detail::CronSteps steps) {
    Rule rule;
    text = detail::without_blanks(text);
    const auto word = text.substr(0, text.find_first_of(detail::blanks));
    if (detail::same_word(word, interval_word)) {
        const auto interval = interval_of(detail::without_blanks(text.substr(word.size())), text);
        if (!interval) return interval.error();
        if (time_zone != "UTC") {
            return Error{Errc::invalid, "time_zone: must be UTC for an interval"};
        }
        rule.interval = *interval;
        return rule;
    }
    auto fields = detail::CronFields::parse(text, steps);
    if (!fields) return fields.error();
    const auto zone = detail::TimeZone::find(time_zone);
    if (!zone) return zone.error();
    rule.fields = *fields;
    rule.zone = *zone;
    return rule;
}

Result<JobSchedule> JobSchedule::parse(std::string_view text, std::string_view time_zone) {
    const auto rule = Rule::parse(text, time_zone, detail::CronSteps::within_field);
    if (!rule) return rule.error();
    return JobSchedule{std::make_shared<const Rule>(*rule)};
}

Result<JobSchedule> JobSchedule::parse_stored(std::string_view text, std::string_view time_zone) {
    const auto rule = Rule::parse(text, time_zone, detail::CronSteps::any);
    if (!rule) return rule.error();
    return JobSchedule{std::make_shared<const Rule>(*rule)};
}

std::string JobSchedule::every(Duration interval) {
    const auto milliseconds = interval.count();
    std::string text{interval_word};
    text.append(" ").append(std::to_string(milliseconds / 1'000));
    // `parse` rejects a fraction of a second. The text contains the fraction, to be reported as
    // invalid.
    if (milliseconds % 1'000 != 0) text.append(".").append(std::to_string(milliseconds % 1'000));
    return text.append("s");
}

TimePoint JobSchedule::next(TimePoint after) const {
    if (after >= from_seconds(search_end)) return never;
    const auto tick = rule_->next(to_seconds(after));
    return tick ? from_seconds(*tick) : never;
}

std::optional<TimePoint> JobSchedule::last(TimePoint at) const {
    if (at < from_seconds(search_begin)) return std::nullopt;
    const auto tick = rule_->last(to_seconds(at));
    return tick ? std::optional{from_seconds(*tick)} : std::nullopt;
}

}  // namespace routemaster
