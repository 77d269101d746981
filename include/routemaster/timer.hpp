/// @file
/// A timer: a payload that is delivered to a listener at its due time.
///
///     post ──► PENDING ──due──► FIRED ──confirm──► (removed)
///                 ▲               │
///                 └─ unconfirmed ─┤  while retries are left
///                                 └─ unconfirmed ──► DEAD (until reposted, dropped or evicted)
///
/// A timer without retries is removed when it fires, so it is delivered at most once.

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

/// Maximum size of a timer's payload, in bytes of MessagePack.
inline constexpr std::size_t timer_bytes_max = 65'536;

/// Maximum bytes of the payloads that one step delivers or lists; a single larger timer is still
/// delivered. On Redis, the size of the timer's stored JSON counts.
inline constexpr std::size_t timer_slice_bytes_max = 4'194'304;

/// Maximum length of the id of a timer, in bytes.
inline constexpr std::size_t timer_id_length_max = 256;

/// Maximum number of DEAD timers in a namespace. Beyond this limit, the timer that died first is
/// evicted, and counted in `timers.forgotten`.
inline constexpr std::uint32_t dead_timers_max = 1'000;

/// Maximum bytes of a DEAD timer's `reason`. A longer reason is truncated.
inline constexpr std::size_t timer_reason_max = 1'024;

/// Maximum number of retries of a timer.
inline constexpr std::uint32_t timer_retries_max = 1'000'000;

/// Maximum time to confirm a timer: 366 days.
inline constexpr Duration timer_confirm_max{31'622'400'000};

/// Describes the rule of `is_timer_name`, for error messages.
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

/// The state of a timer.
enum class TimerState : std::uint8_t {
    pending,  ///< The timer waits for its due time.
    fired,    ///< The timer was delivered to a listener, but not confirmed yet.
    dead,     ///< The timer was rejected, or was not confirmed after its last retry.
};

/// A timer as stored.
struct TimerStatus {
    std::string id;
    Value payload{};
    TimerState state = TimerState::pending;
    /// PENDING: the due time. FIRED: when the timer fires again unless it is confirmed. DEAD: when
    /// the timer became DEAD.
    TimePoint at{};
    /// How often the timer has fired again, because no listener confirmed it.
    std::uint32_t retries = 0;
    std::uint32_t retries_max = 0;  ///< The maximum of `retries`.
    /// DEAD: why the timer was rejected (`GiveUpTimer`). Empty if no listener confirmed it in time.
    std::string reason{};

    friend bool operator==(const TimerStatus&, const TimerStatus&) = default;
};

}  // namespace routemaster
