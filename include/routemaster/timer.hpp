/// @file
/// A timer: a payload that is handed to a listener when its time has come.
///
///     post ──► PENDING ──due──► FIRED ──confirm──► (gone)
///                 ▲               │
///                 └─ unconfirmed ─┤  while retries are left
///                                 └─ unconfirmed ──► DEAD (kept; reposted, dropped or forgotten)
///
/// A timer without retries is gone when it fires: it is handed out at most once.

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

/// Bytes of the payload of a timer, encoded as MessagePack, at most.
inline constexpr std::size_t timer_bytes_max = 65'536;

/// Bytes of payloads that one step hands out, or lists, at most; but always one timer. On Redis the
/// JSON that a timer is kept in counts.
inline constexpr std::size_t timer_slice_bytes_max = 4'194'304;

/// Longest id of a timer, in bytes.
inline constexpr std::size_t timer_id_length_max = 256;

/// DEAD timers that a namespace keeps at most; of more, the one that died first is forgotten, and
/// counted in `timers.forgotten`.
inline constexpr std::uint32_t dead_timers_max = 1'000;

/// Bytes that a DEAD timer keeps of why it was given up.
inline constexpr std::size_t timer_reason_max = 1'024;

/// Retries of a timer at most.
inline constexpr std::uint32_t timer_retries_max = 1'000'000;

/// How long a listener may be given at most to confirm a timer: a year.
inline constexpr Duration timer_confirm_max{31'622'400'000};

/// The rule of `is_timer_name` in words.
inline constexpr const char* timer_name_rule =
    "1 to 64 of A-Z, a-z, 0-9, _, -, ., { and }, but not . or ..";

/// Whether `name` may name a namespace of timers, or a listener: 1 to 64 of `A`–`Z`, `a`–`z`,
/// `0`–`9`, `_`, `-`, `.`, `{` and `}`, but not `.` or `..`. The braces are those of a hash tag of
/// Redis Cluster.
[[nodiscard]] constexpr bool is_timer_name(std::string_view name) noexcept {
    return !name.empty() && name.size() <= name_length_max && !is_dot_segment(name) &&
           std::all_of(name.begin(), name.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.' || c == '{' || c == '}';
           });
}

/// Where a timer is in its life.
enum class TimerState : std::uint8_t {
    pending,  ///< It waits for its time.
    fired,    ///< A listener has it, and has not confirmed it yet.
    dead,     ///< It was given up, or nobody confirmed the last firing that it was allowed.
};

/// A timer as a store has it.
struct TimerStatus {
    std::string id;
    Value payload{};
    TimerState state = TimerState::pending;
    /// PENDING: when it is due. FIRED: when it is due again unless it is confirmed. DEAD: when it
    /// was given up.
    TimePoint at{};
    std::uint32_t retries = 0;      ///< How often it came back, because nobody confirmed it.
    std::uint32_t retries_max = 0;  ///< How often it may.
    /// DEAD: why it was given up (`GiveUpTimer`). Empty when nobody confirmed it in time.
    std::string reason{};

    friend bool operator==(const TimerStatus&, const TimerStatus&) = default;
};

}  // namespace routemaster
