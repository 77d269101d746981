/// @file
/// Cron expressions, and the times of the wall clock that they match.

#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// A time of a wall clock, without a zone: seconds since 1970-01-01 00:00:00 there.
using LocalSeconds = std::int64_t;

/// Which steps an expression may have.
enum class CronSteps : std::uint8_t {
    within_field,  ///< `*/60` of minutes at most: a greater one never matches twice.
    any,
};

/// What a cron expression matches.
struct CronFields {
    /// `invalid`, with the name of the field, when the text is no expression.
    static Result<CronFields> parse(std::string_view text,
                                    CronSteps steps = CronSteps::within_field);

    /// Whether no field of the time of day begins with `*`.
    [[nodiscard]] bool is_fixed() const noexcept { return !any_time; }

    /// The first time after `after` that matches; nothing when none does within 400 years, after
    /// which the calendar repeats itself.
    [[nodiscard]] std::optional<LocalSeconds> next(LocalSeconds after) const;

    /// The last time that matches and is not after `at`; nothing likewise.
    [[nodiscard]] std::optional<LocalSeconds> last(LocalSeconds at) const;

    std::bitset<60> seconds{};
    std::bitset<60> minutes{};
    std::bitset<24> hours{};
    std::bitset<32> days{};    ///< 1 to 31.
    std::bitset<13> months{};  ///< 1 to 12.
    std::bitset<7> weekdays{};
    bool any_day = false;      ///< The day of the month begins with `*`.
    bool any_weekday = false;  ///< The day of the week does.
    bool any_time = false;     ///< Second, minute or hour does.

private:
    [[nodiscard]] bool matches_day(std::int64_t day) const;
    [[nodiscard]] std::optional<int> first_time(int from) const;
    [[nodiscard]] std::optional<int> last_time(int to) const;
};

}  // namespace routemaster::detail
