/// @file
/// Steps about the firing of timers and about listeners.
///
/// The listeners of a namespace take turns: the store tells the listener that has the turn when the
/// next timer is due. When it has taken timers, the next listener has the turn. A listener joins
/// with its first `TakeTimers`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// The name to pass to `Store::watch` for a listener. A wake-up means that the listener must
/// perform `TakeTimers` earlier than its last reply said.
[[nodiscard]] std::string timer_watch(const std::string& space, const std::string& listener);

/// How many timers one `TakeTimers` takes, at most; also how many it makes PENDING again or DEAD,
/// at most. On Redis it also makes at most `timer_slice_bytes_max` of timers PENDING again.
inline constexpr std::uint32_t taken_timers_max = 1'000;

/// A listener counts as gone if its next `TakeTimers` is late by this time.
inline constexpr Duration timer_listener_silence{1'000};

/// How many listeners a store in this process keeps, at most. Beyond this, the listener whose last
/// `TakeTimers` is the oldest is forgotten.
inline constexpr std::size_t timer_listeners_max = 10'000;

/// A firing of a timer.
struct FiredTimer {
    std::string id;
    std::string payload;  ///< Encoded.
    TimePoint due_at;     ///< When this firing was due.
    std::uint32_t retries = 0;
    std::uint32_t retries_max = 0;
    /// When the timer fires again, or becomes DEAD, unless it is confirmed. `never`: the timer is
    /// gone and needs no confirmation.
    TimePoint confirm_by = never;
    /// Distinguishes this firing from firings of an earlier timer with an equal id and equal
    /// `retries`, if the timer was posted again. 0 if the timer needs no confirmation.
    std::int64_t firing = 0;

    friend bool operator==(const FiredTimer&, const FiredTimer&) = default;
};

/// The reply to `TakeTimers`.
struct TakenTimers {
    std::vector<FiredTimer> timers{};  ///< In the order of their due times, then of their ids.
    /// When the listener must perform `TakeTimers` again, unless it is woken before. `now` if more
    /// timers are due. If another listener has the turn: `timer_listener_silence` after the next
    /// timer is due, in case the other listener is gone. `never` if there is no timer, or if
    /// `limit` is 0.
    TimePoint wake_at = never;

    friend bool operator==(const TakenTimers&, const TakenTimers&) = default;
};

/// Takes due timers: at most `limit`, with at most `timer_slice_bytes_max` of payload. A listener
/// that asks again at `wake_at` gets the rest.
///
/// First, each timer whose time to confirm is over becomes PENDING, due at the end of this time, or
/// DEAD if no retries are left. If an earlier process had the file of this store open, this happens
/// at once to all timers that are FIRED since then. After this, each timer taken becomes FIRED, or
/// is removed if it has no retries, durably before the reply: a timer without retries is delivered
/// at most once.
///
/// **Turns.** The listener joins the listeners of the namespace with its first request. If the
/// listener has the turn and takes timers, the turn goes to the next listener. If a listener is
/// late by `timer_listener_silence`, it counts as gone, and joins again with its next request.
///
/// If the reply is lost, timers without retries are lost, too; the rest fire again.
struct TakeTimers {
    using Reply = TakenTimers;
    static constexpr StepTraits traits{.name = "take_timers",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string listener;  ///< Unique in its namespace; `is_timer_name`, else `invalid`.
    /// At most `taken_timers_max`, else `invalid`. 0: the listener is busy, takes no timers, and
    /// leaves the listeners until it asks for timers again.
    std::uint32_t limit = 8;
    /// Time to confirm for timers that were posted without their own `confirm_within`. From 1 ms to
    /// `timer_confirm_max`, else `invalid`.
    Duration confirm_within{10'000};
};

/// Removes a listener from the turns. A repetition changes nothing.
struct LeaveTimers {
    using Reply = Done;
    static constexpr StepTraits traits{.name = "leave_timers",
                                       .repeatable = true,
                                       .changes = Changes::liveness,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string listener;
};

/// The reply to a confirmation.
enum class TimerConfirmed : std::uint8_t {
    confirmed,
    /// No such firing waits for a confirmation: it was confirmed before, came too late, or the
    /// timer was replaced or cancelled. Nothing was changed.
    unknown,
};

/// Confirms a FIRED timer, which is then forgotten. A repetition replies `unknown`.
struct ConfirmTimer {
    using Reply = TimerConfirmed;
    static constexpr StepTraits traits{.name = "confirm_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    /// The `FiredTimer::retries` of the firing. Absent: the last firing, whatever listener has it.
    std::optional<std::uint32_t> retries{};
    /// The `FiredTimer::firing` of the firing. Absent: any.
    std::optional<std::int64_t> firing{};
};

/// Makes a FIRED timer DEAD, even if it has retries left. Replies 1, or 0 if no such firing waits
/// for a confirmation. A repetition changes nothing more.
struct GiveUpTimer {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "give_up_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    std::optional<std::uint32_t> retries{};  ///< As in `ConfirmTimer`, like the next.
    std::optional<std::int64_t> firing{};
    std::string reason{};  ///< The first `timer_reason_max` bytes are kept.
};

/// The steps about the firing of timers.
using TimerFiringSteps = StepList<TakeTimers, ConfirmTimer, GiveUpTimer, LeaveTimers>;

}  // namespace routemaster
