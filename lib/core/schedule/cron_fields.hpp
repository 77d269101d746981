/// @file
/// Cron expressions, and the wall-clock times they match.

#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::detail {

/// A wall-clock time without a time zone: the seconds from 1970-01-01 00:00:00 on the same clock.
using LocalSeconds = std::int64_t;

inline constexpr std::string_view blanks = " \t";

/// A text without blanks at its ends.
[[nodiscard]] std::string_view without_blanks(std::string_view text);

/// Whether two words are equal but for the case of their letters.
[[nodiscard]] bool same_word(std::string_view a, std::string_view b);

enum class CronSteps : std::uint8_t {
    within_field,  ///< At most `*/60` for minutes. A greater step would match only once.
    any,
};

struct CronFields {
    /// Parses a cron expression. `invalid`, with the name of the field, for a wrong expression.
    static Result<CronFields> parse(std::string_view text,
                                    CronSteps steps = CronSteps::within_field);

    /// Whether the time of day is fixed: no field for second, minute or hour begins with `*`.
    [[nodiscard]] bool is_fixed() const noexcept { return !any_time; }

    /// The first matching time after `after`. Nothing if no time matches within 400 years, the
    /// period of the Gregorian calendar.
    [[nodiscard]] std::optional<LocalSeconds> next(LocalSeconds after) const;

    /// The last matching time at or before `at`. Nothing if no time matches within 400 years.
    [[nodiscard]] std::optional<LocalSeconds> last(LocalSeconds at) const;

    std::bitset<60> seconds{};
    std::bitset<60> minutes{};
    std::bitset<24> hours{};
    std::bitset<32> days{};    ///< 1 to 31.
    std::bitset<13> months{};  ///< 1 to 12.
    std::bitset<7> weekdays{};
    bool any_day = false;      ///< Whether the day of the month begins with `*`.
    bool any_weekday = false;  ///< Whether the day of the week begins with `*`.
    bool any_time = false;     ///< Whether second, minute or hour begins with `*`.

private:
    [[nodiscard]] bool matches_day(std::int64_t day) const;
    [[nodiscard]] std::optional<int> first_time(int from) const;
    [[nodiscard]] std::optional<int> last_time(int to) const;
};

}  // namespace routemaster::detail
