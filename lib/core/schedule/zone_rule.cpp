#include "core/schedule/zone_rule.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>

namespace routemaster::detail {
namespace {

constexpr std::int64_t seconds_per_day = 86'400;
constexpr std::int64_t hour_seconds = 3'600;
constexpr int offset_hours_max = 24;
constexpr int time_hours_max = 167;

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The local date of an instant, as days since the epoch.
std::chrono::sys_days day_of(UnixSeconds local) {
    return std::chrono::floor<std::chrono::days>(
        std::chrono::sys_seconds{std::chrono::seconds{local}});
}

}  // namespace

/// Parser of a rule. After a failure, all further reads fail.
class ZoneRule::Parser {
public:
    explicit Parser(std::string_view text) : rest_{text} {}

    std::optional<ZoneRule> rule() {
        ZoneRule rule;
        name();
        rule.standard_ = -time(offset_hours_max);
        if (!rest_.empty()) {
            name();
            const bool has_offset = !rest_.empty() && rest_.front() != ',';
            const auto summer =
                has_offset ? -time(offset_hours_max) : rule.standard_ + hour_seconds;
            auto begin = step();
            auto end = step();
            begin.before = end.offset = rule.standard_;
            begin.offset = end.before = summer;
            rule.steps_ = {begin, end};
        }
        return failed_ || !rest_.empty() ? std::nullopt : std::optional{rule};
    }

private:
    bool skip(char c) {
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char c) { failed_ = !skip(c) || failed_; }

    /// Parses the abbreviation of a zone: three letters or more. Between `<` and `>`, digits and
    /// signs are allowed, too.
    void name() {
        constexpr std::size_t name_min = 3;
        const bool is_quoted = skip('<');
        const auto* const end = std::find_if_not(rest_.begin(), rest_.end(), [=](char c) {
            return is_letter(c) || (is_quoted && (is_digit(c) || c == '+' || c == '-'));
        });
        const auto size = static_cast<std::size_t>(end - rest_.begin());
        failed_ = failed_ || size < name_min;
        rest_.remove_prefix(size);
        if (is_quoted) expect('>');
    }

    int number(int from, int to) {
        int value = 0;
        const auto* const end = rest_.data() + rest_.size();
        const auto read = std::from_chars(rest_.data(), end, value);
        if (rest_.empty() || !is_digit(rest_.front()) || read.ec != std::errc{} || value < from ||
            value > to) {
            failed_ = true;
            return from;
        }
        rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
        return value;
    }

    /// Parses a time `[+-]hh[:mm[:ss]]`. Returns seconds.
    std::int64_t time(int hours_max) {
        const bool is_negative = skip('-');
        if (!is_negative) skip('+');
        auto seconds = number(0, hours_max) * hour_seconds;
        if (skip(':')) seconds += number(0, 59) * 60;
        if (skip(':')) seconds += number(0, 59);
        return is_negative ? -seconds : seconds;
    }

    YearlyStep step() {
        using Day = YearlyStep::Day;
        YearlyStep step;
        expect(',');
        if (skip('M')) {
            step.month = number(1, 12);
            expect('.');
            step.week = number(1, 5);
            expect('.');
            step.number = number(0, 6);
        } else if (skip('J')) {
            step.day = Day::of_year_of_365_days;
            step.number = number(1, 365);
        } else {
            step.day = Day::of_year;
            step.number = number(0, 365);
        }
        if (skip('/')) step.time = time(time_hours_max);
        return step;
    }

    std::string_view rest_;
    bool failed_ = false;
};

std::optional<ZoneRule> ZoneRule::parse(std::string_view text) { return Parser{text}.rule(); }

ZonePeriod ZoneRule::at(UnixSeconds instant) const {
    ZonePeriod period{.offset = standard_};
    if (!steps_) return period;
    const std::chrono::year_month_day today{day_of(instant + standard_)};
    const int year{today.year()};
    constexpr int years_around = 2;
    std::array<ZoneStep, (2 * years_around + 1) * 2> steps;
    auto next = steps.begin();
    // A time of up to 167 hours can move a change by a week, into the next or the previous year.
    // The changes of the neighbouring years are therefore included.
    for (int other = year - years_around; other <= year + years_around; ++other) {
        for (const auto& step : *steps_) *next++ = step.in(other);
    }
    std::stable_sort(steps.begin(), steps.end(),
                     [](const ZoneStep& a, const ZoneStep& b) { return a.at < b.at; });
    for (const auto& step : steps) {
        if (step.offset == period.offset) continue;
        if (step.at > instant) {
            period.end = step.at;
            break;
        }
        period.begin = step.at;
        period.offset = step.offset;
    }
    return period;
}

ZoneStep ZoneRule::YearlyStep::in(int year) const {
    const std::chrono::year in_year{year};
    auto on = std::chrono::sys_days{in_year / std::chrono::January / 1};
    switch (day) {
        case Day::of_week: {
            const std::chrono::weekday weekday{static_cast<unsigned>(number)};
            const auto of_month = in_year / std::chrono::month{static_cast<unsigned>(month)};
            on = week == 5 ? std::chrono::sys_days{of_month / weekday[std::chrono::last]}
                           : std::chrono::sys_days{of_month / weekday[static_cast<unsigned>(week)]};
            break;
        }
        case Day::of_year: on += std::chrono::days{number}; break;
        case Day::of_year_of_365_days: {
            constexpr int february_28 = 59;
            const bool is_behind = in_year.is_leap() && number > february_28;
            on += std::chrono::days{number - (is_behind ? 0 : 1)};
            break;
        }
    }
    return {.at = on.time_since_epoch().count() * seconds_per_day + time - before,
            .offset = offset};
}

}  // namespace routemaster::detail
