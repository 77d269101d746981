#include "core/schedule/cron_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/schedule/quoted.hpp"

namespace routemaster::detail {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

}  // namespace

bool same_word(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return upper(x) == upper(y); });
}

std::string_view without_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
    return text.substr(0, text.find_last_not_of(blanks) + 1);
}

namespace {

constexpr int day_seconds = 86'400;

/// The period of the Gregorian calendar, including days of the week, in days.
constexpr std::int64_t calendar_days = 146'097;

struct Field {
    std::string_view name;
    int first;
    int last;
    std::span<const std::string_view> words{};  ///< Names such as JAN, beginning with `first`.

    /// Whether the field is the day of the week, in which both 0 and 7 mean Sunday.
    [[nodiscard]] bool is_weekday() const { return last == 7; }
    [[nodiscard]] int size() const { return is_weekday() ? 7 : last - first + 1; }
};

constexpr std::array<std::string_view, 12> month_words{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_words{"SUN", "MON", "TUE", "WED",
                                                        "THU", "FRI", "SAT"};

constexpr std::array<Field, 6> fields{{{"second", 0, 59},
                                       {"minute", 0, 59},
                                       {"hour", 0, 23},
                                       {"day of the month", 1, 31},
                                       {"month", 1, 12, month_words},
                                       {"day of the week", 0, 7, weekday_words}}};

struct Alias {
    std::string_view word;
    std::string_view expression;
};

constexpr std::array<Alias, 7> aliases{{{"@yearly", "0 0 1 1 *"},
                                        {"@annually", "0 0 1 1 *"},
                                        {"@monthly", "0 0 1 * *"},
                                        {"@weekly", "0 0 * * 0"},
                                        {"@daily", "0 0 * * *"},
                                        {"@midnight", "0 0 * * *"},
                                        {"@hourly", "0 * * * *"}}};

Error bad(const Field& field, std::string_view part, std::string_view why) {
    return {Errc::invalid,
            "schedule: " + std::string{field.name} + ": " + quoted(part) + " " + std::string{why}};
}

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto end = text.find_first_of(separators);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<int> digits(std::string_view text) {
    int number = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    const bool whole = read.ec == std::errc{} && read.ptr == end && text.front() != '-';
    return whole ? std::optional{number} : std::nullopt;
}

/// Whether a text uses the syntax of the Quartz scheduler, such as `?`, `L`, `LW`, `15W` or
/// `FRI#2`.
bool is_of_quartz(std::string_view text) {
    if (text.find_first_of("?#") != std::string_view::npos) return true;
    const auto end = text.find_first_not_of("0123456789");
    return end != std::string_view::npos &&
           text.find_first_not_of("LWlw", end) == std::string_view::npos;
}

Result<int> number(const Field& field, std::string_view text) {
    for (std::size_t i = 0; i < field.words.size(); ++i) {
        if (same_word(text, field.words[i])) return field.first + static_cast<int>(i);
    }
    const auto value = text.empty() ? std::nullopt : digits(text);
    if (value && *value >= field.first && *value <= field.last) return *value;
    if (is_of_quartz(text))
        return bad(field, text, "is Quartz syntax: L, W, # and ? are not supported");
    std::string why =
        "is not from " + std::to_string(field.first) + " to " + std::to_string(field.last);
    if (!field.words.empty()) {
        why.append(", nor from ").append(field.words.front()).append(" to ");
        why.append(field.words.back());
    }
    return bad(field, text, why);
}

/// Whether a part of a schedule names a time zone, as in other programs: `TZ=UTC`,
/// `CRON_TZ=Europe/Berlin`, `Europe/Berlin`.
bool is_zone(std::string_view part) {
    if (part.starts_with("TZ=") || part.starts_with("CRON_TZ=")) return true;
    const auto slash = part.find('/');
    if (slash == std::string_view::npos || slash + 2 >= part.size()) return false;
    const auto next = upper(part[slash + 1]);
    return next >= 'A' && next <= 'Z';
}

struct Range {
    int first = 0;
    int last = 0;
    int step = 1;
};

Error wraps_around(const Field& field, std::string_view item, const Range& range) {
    const auto of = [](int first, int last) {
        return std::to_string(first) + "-" + std::to_string(last);
    };
    const auto end = field.first + field.size() - 1;
    return bad(
        field, item,
        "ends before it begins; write " + of(range.first, end) + "," + of(field.first, range.last));
}

/// Parses an item of a list: `*`, `7` or `1-5`. After `*` or a range, a step such as `/2` may
/// follow.
Result<Range> range(const Field& field, std::string_view item, CronSteps steps) {
    const auto slash = item.find('/');
    const auto body = item.substr(0, slash);
    Range all{field.first, field.last};
    const auto dash = body.find('-');
    if (body != "*") {
        const auto first = number(field, body.substr(0, dash));
        if (!first) return first.error();
        all.first = all.last = *first;
        if (dash != std::string_view::npos) {
            const auto last = number(field, body.substr(dash + 1));
            if (!last) return last.error();
            all.last = *last;
            if (field.is_weekday() && all.first > all.last) {
                // Sunday is both 0 and 7. At the end of a range, Sunday must be 7: SAT-SUN becomes
                // 6-7. At the start of a range, Sunday must be 0: 7-1 becomes 0-1.
                if (all.last == 0) {
                    all.last = field.last;
                } else if (all.first == field.last) {
                    all.first = 0;
                }
            }
        }
    }
    if (all.first > all.last) return wraps_around(field, item, all);
    if (slash == std::string_view::npos) return all;
    if (body != "*" && dash == std::string_view::npos) {
        return bad(field, item, "has a step, but no range and no *");
    }
    const auto step = item.size() == slash + 1 ? std::nullopt : digits(item.substr(slash + 1));
    if (!step || *step < 1) return bad(field, item, "has a step that is not at least 1");
    if (*step > field.size() && steps == CronSteps::within_field) {
        return bad(field, item,
                   "matches only " + std::to_string(all.first) + ", as its step is more than " +
                       std::to_string(field.size()));
    }
    all.step = *step;
    return all;
}

template <std::size_t Size>
Result<void> read(const Field& field, std::string_view text, CronSteps steps,
                  std::bitset<Size>& into) {
    for (const auto item : split(text, ",")) {
        const auto all = range(field, item, steps);
        if (!all) return all.error();
        // For the day of the week, the value 7 sets the bit of 0: both are Sunday.
        for (int i = all->first; i <= all->last; i += std::min(all->step, 60)) {
            into.set(static_cast<std::size_t>(i) % (field.is_weekday() ? 7U : Size));
        }
    }
    return {};
}

bool has_star(std::string_view text) { return text.starts_with('*'); }

std::chrono::sys_days date(std::int64_t day) {
    return std::chrono::sys_days{std::chrono::days{day}};
}

std::int64_t floor_day(LocalSeconds at) {
    return at >= 0 ? at / day_seconds : -((-at + day_seconds - 1) / day_seconds);
}

}  // namespace

Result<CronFields> CronFields::parse(std::string_view text, CronSteps steps) {
    for (const auto& alias : aliases) {
        if (same_word(text, alias.word)) text = alias.expression;
    }
    if (text.starts_with('@')) {
        return Error{Errc::invalid,
                     "schedule: " + quoted(text) +
                         " is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, "
                         "@hourly and @every 10s"};
    }
    auto parts = split(text, blanks);
    std::erase(parts, std::string_view{});
    const auto zone = std::find_if(parts.begin(), parts.end(), is_zone);
    if (zone != parts.end()) {
        return Error{Errc::invalid,
                     "schedule: " + quoted(*zone) +
                         " is a time zone: set time_zone instead, such as Europe/Berlin"};
    }
    if (parts.size() != 5 && parts.size() != 6) {
        return Error{Errc::invalid,
                     "schedule: " + quoted(text) +
                         " must have the five fields minute, hour, day of the month, month and day "
                         "of the week, optionally after the second"};
    }
    if (parts.size() == 5) parts.insert(parts.begin(), "0");
    CronFields cron;
    const auto complaint = [&]() -> Result<void> {
        if (auto done = read(fields[0], parts[0], steps, cron.seconds); !done) return done;
        if (auto done = read(fields[1], parts[1], steps, cron.minutes); !done) return done;
        if (auto done = read(fields[2], parts[2], steps, cron.hours); !done) return done;
        if (auto done = read(fields[3], parts[3], steps, cron.days); !done) return done;
        if (auto done = read(fields[4], parts[4], steps, cron.months); !done) return done;
        return read(fields[5], parts[5], steps, cron.weekdays);
    }();
    if (!complaint) return complaint.error();
    cron.any_day = has_star(parts[3]);
    cron.any_weekday = has_star(parts[5]);
    cron.any_time = has_star(parts[0]) || has_star(parts[1]) || has_star(parts[2]);
    if (!cron.next(0)) {
        return Error{Errc::invalid, "schedule: " + quoted(text) + " is a date that never occurs"};
    }
    return cron;
}

std::optional<LocalSeconds> CronFields::next(LocalSeconds after) const {
    const auto from = after + 1;
    auto day = floor_day(from);
    auto time = static_cast<int>(from - day * day_seconds);
    for (const auto end = day + calendar_days; day <= end; ++day, time = 0) {
        if (!matches_day(day)) continue;
        if (const auto found = first_time(time)) return day * day_seconds + *found;
    }
    return std::nullopt;
}

std::optional<LocalSeconds> CronFields::last(LocalSeconds at) const {
    auto day = floor_day(at);
    auto time = static_cast<int>(at - day * day_seconds);
    for (const auto end = day - calendar_days; day >= end; --day, time = day_seconds - 1) {
        if (!matches_day(day)) continue;
        if (const auto found = last_time(time)) return day * day_seconds + *found;
    }
    return std::nullopt;
}

bool CronFields::matches_day(std::int64_t day) const {
    const std::chrono::year_month_day on{date(day)};
    if (!months[unsigned{on.month()}]) return false;
    const bool is_day = days[unsigned{on.day()}];
    const bool is_weekday = weekdays[std::chrono::weekday{date(day)}.c_encoding()];
    return any_day || any_weekday ? is_day && is_weekday : is_day || is_weekday;
}

std::optional<int> CronFields::first_time(int from) const {
    for (int time = from; time < day_seconds;) {
        if (!hours[static_cast<std::size_t>(time / 3'600)]) {
            time = (time / 3'600 + 1) * 3'600;
        } else if (!minutes[static_cast<std::size_t>(time / 60 % 60)]) {
            time = (time / 60 + 1) * 60;
        } else if (!seconds[static_cast<std::size_t>(time % 60)]) {
            ++time;
        } else {
            return time;
        }
    }
    return std::nullopt;
}

std::optional<int> CronFields::last_time(int to) const {
    for (int time = to; time >= 0;) {
        if (!hours[static_cast<std::size_t>(time / 3'600)]) {
            time = time / 3'600 * 3'600 - 1;
        } else if (!minutes[static_cast<std::size_t>(time / 60 % 60)]) {
            time = time / 60 * 60 - 1;
        } else if (!seconds[static_cast<std::size_t>(time % 60)]) {
            --time;
        } else {
            return time;
        }
    }
    return std::nullopt;
}

}  // namespace routemaster::detail
