/// @file
/// Steps for the firing of timers, and for listeners.
///
/// Listeners of a namespace work in rotation. The store sends the next due time to one listener
/// only, the listener that has the turn. After it has taken (acquired) timers, the next listener
/// has the turn. A listener joins the rotation with its first `TakeTimers`.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Returns the name to pass to `Store::watch` for a listener. A wake-up means that the listener
/// must perform `TakeTimers` earlier than its last reply said.
[[nodiscard]] std::string timer_watch(const std::string& space, const std::string& listener);

/// Maximum number of timers that one `TakeTimers` takes, makes PENDING again, or makes DEAD, each.
/// On Redis, also at most `timer_slice_bytes_max` bytes of timers become PENDING again.
inline constexpr std::uint32_t taken_timers_max = 1'000;

/// If the next `TakeTimers` of a listener is late by this time, the listener is removed.
inline constexpr Duration timer_listener_silence{1'000};

/// Maximum number of listeners in a memory or embedded store. Beyond this limit, the listener whose
/// last `TakeTimers` is the oldest is evicted.
inline constexpr std::size_t timer_listeners_max = 10'000;

/// A firing of a timer.
struct FiredTimer {
    std::string id;
    std::string payload;  ///< Encoded.
    TimePoint due_at;     ///< Due time of this firing.
    std::uint32_t retries = 0;
    std::uint32_t retries_max = 0;
    /// When the timer fires again, or becomes DEAD, unless it is confirmed. `never`: the timer was
    /// removed and needs no confirmation.
    TimePoint confirm_by = never;
    /// Id of the firing, which differs even if a timer was posted again with an equal id and has
    /// fired with equal `retries`. 0 if the timer needs no confirmation.
    std::int64_t firing = 0;

    friend bool operator==(const FiredTimer&, const FiredTimer&) = default;
};

/// The reply to `TakeTimers`.
struct TakenTimers {
    std::vector<FiredTimer> timers{};  ///< Sorted by due time, then by id.
    /// When the listener must perform `TakeTimers` again, unless it is woken before. `now` if more
    /// timers are due. If another listener has the turn: `timer_listener_silence` after the next
    /// due time, in case the other listener has crashed. `never` if there is no timer, or if
    /// `limit` is 0.
    TimePoint wake_at = never;

    friend bool operator==(const TakenTimers&, const TakenTimers&) = default;
};

/// Takes (acquires) due timers: at most `limit`, with at most `timer_slice_bytes_max` bytes of
/// payloads. A listener that performs the step again at `wake_at` gets the remaining timers.
///
/// First, each FIRED timer that was not confirmed in time becomes PENDING, due at the end of
/// that time, or DEAD if no retries are left. When an embedded store is opened, this happens at
/// once to all FIRED timers. Then each taken timer becomes FIRED, or is removed if it has no
/// retries, durably before the reply. A timer without retries is therefore delivered at most
/// once.
///
/// **Turns.** With its first request the listener joins the rotation of the namespace. If the
/// listener has the turn and takes timers, the next listener gets the turn. A listener that is late
/// by `timer_listener_silence` is removed, and joins again with its next request.
///
/// If the reply is lost, timers without retries are lost, too; the others fire again.
struct TakeTimers {
    using Reply = TakenTimers;
    static constexpr StepTraits traits{.name = "take_timers",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string listener;  ///< Unique in its namespace; `is_timer_name`, else `invalid`.
    /// At most `taken_timers_max`, else `invalid`. 0: the listener is busy. It takes no timers, and
    /// leaves the rotation until its next request for timers.
    std::uint32_t limit = 8;
    /// Time to confirm timers whose post did not set `confirm_within`. From 1 ms to
    /// `timer_confirm_max`, else `invalid`.
    Duration confirm_within{10'000};
};

/// Removes a listener from the rotation. A repetition changes nothing.
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
    /// The firing does not await confirmation: it was confirmed before, timed out, or the timer was
    /// replaced or cancelled. Nothing was changed.
    unknown,
};

/// Confirms a FIRED timer, and removes it. A repetition replies `unknown`.
struct ConfirmTimer {
    using Reply = TimerConfirmed;
    static constexpr StepTraits traits{.name = "confirm_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    /// The `FiredTimer::retries` of the firing. Absent: the last firing, of any listener.
    std::optional<std::uint32_t> retries{};
    /// The `FiredTimer::firing` of the firing. Absent: any.
    std::optional<std::int64_t> firing{};
};

/// Makes a FIRED timer DEAD, even if it has retries left. Replies 1, or 0 if the firing does not
/// await confirmation. A repetition changes nothing more.
struct GiveUpTimer {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "give_up_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    std::optional<std::uint32_t> retries{};  ///< This and the next: as in `ConfirmTimer`.
    std::optional<std::int64_t> firing{};
    std::string reason{};  ///< Truncated to `timer_reason_max` bytes.
};

/// The list of the steps for the firing of timers.
using TimerFiringSteps = StepList<TakeTimers, ConfirmTimer, GiveUpTimer, LeaveTimers>;

}  // namespace routemaster
