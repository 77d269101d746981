/// @file
/// A timer: a payload that is delivered to a listener at a set time.
///
///     post ──► PENDING ──due──► FIRED ──confirm──► (gone)
///                 ▲               │
///                 └─ unconfirmed ─┤  while retries are left
///                                 └─ unconfirmed ──► DEAD (kept; reposted, dropped or forgotten)
///
/// A timer without retries is gone when it fires: it is delivered at most once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/names.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Limit for the payload of a timer, in bytes of MessagePack.
inline constexpr std::size_t timer_bytes_max = 65'536;

/// Limit for the payloads that one step delivers or lists, in bytes; a single larger timer is still
/// delivered. On Redis, the size of the timer's stored JSON counts.
inline constexpr std::size_t timer_slice_bytes_max = 4'194'304;

/// Longest id of a timer, in bytes.
inline constexpr std::size_t timer_id_length_max = 256;

/// How many DEAD timers a namespace keeps, at most. Beyond this, the timer that died first is
/// forgotten, and counted in `timers.forgotten`.
inline constexpr std::uint32_t dead_timers_max = 1'000;

/// How many bytes of its reason a DEAD timer keeps.
inline constexpr std::size_t timer_reason_max = 1'024;

/// Greatest number of retries of a timer.
inline constexpr std::uint32_t timer_retries_max = 1'000'000;

/// The longest time to confirm a timer: a year.
inline constexpr Duration timer_confirm_max{31'622'400'000};

/// The rule of `is_timer_name` as text for error messages.
inline constexpr const char* timer_name_rule =
    "1 to 64 of A-Z, a-z, 0-9, _, -, ., { and }, but not . or ..";

/// Whether `name` is a valid name of a namespace of timers, or of a listener: 1 to 64 of `A`–`Z`,
/// `a`–`z`, `0`–`9`, `_`, `-`, `.`, `{` and `}`, but not `.` or `..`. Braces allow hash tags of
/// Redis Cluster.
[[nodiscard]] constexpr bool is_timer_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max && !is_dot_segment(name) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.' || c == '{' || c == '}';
           });
}

/// The states of a timer.
enum class TimerState : std::uint8_t {
    pending,  ///< Waits for its due time.
    fired,    ///< Delivered to a listener, but not confirmed yet.
    dead,     ///< Rejected, or unconfirmed after its last retry.
};

/// A timer as stored.
struct TimerStatus {
    std::string id;
    Value payload{};
    TimerState state = TimerState::pending;
    /// PENDING: the due time. FIRED: when the timer is due again unless it is confirmed. DEAD: when
    /// the timer became DEAD.
    TimePoint at{};
    /// How often the timer fired again, because no listener confirmed it.
    std::uint32_t retries = 0;
    std::uint32_t retries_max = 0;  ///< How often the timer may fire again.
    /// DEAD: why the timer was rejected (`GiveUpTimer`). Empty if no listener confirmed it in time.
    std::string reason{};

    friend bool operator==(const TimerStatus&, const TimerStatus&) = default;
};

}  // namespace routemaster
