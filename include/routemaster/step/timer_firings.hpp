/// @file
/// Steps about the firing of timers, and about those who listen.
///
/// Listeners of a namespace take turns: the store tells one of them when the next timer is due, and
/// the next one after that has taken something. A listener joins with its first `TakeTimers`.

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

/// What to `Store::watch` for a listener that is to take timers sooner than it was last told.
[[nodiscard]] std::string timer_watch(const std::string& space, const std::string& listener);

/// Timers that one `TakeTimers` hands out at most, puts back, or declares dead. On Redis it also
/// puts back no more than `timer_slice_bytes_max`.
inline constexpr std::uint32_t taken_timers_max = 1'000;

/// How long a listener is taken for alive that has not asked since the instant it was told.
inline constexpr Duration timer_listener_silence{1'000};

/// Listeners that a store in this process keeps at most; of more, those are forgotten that asked
/// longest ago.
inline constexpr std::size_t timer_listeners_max = 10'000;

/// A firing of a timer.
struct FiredTimer {
    std::string id;
    std::string payload;  ///< Encoded.
    TimePoint due_at;     ///< When this firing was due.
    std::uint32_t retries = 0;
    std::uint32_t retries_max = 0;
    /// When it fires again, or dies, unless it is confirmed. `never`: it needs no confirmation, as
    /// it is gone.
    TimePoint confirm_by = never;
    /// Tells it from other firings of timers of this id, of which a later one may have the same
    /// `retries`: one that was posted again. 0 when it needs no confirmation.
    std::int64_t firing = 0;

    friend bool operator==(const FiredTimer&, const FiredTimer&) = default;
};

/// What `TakeTimers` got.
struct TakenTimers {
    std::vector<FiredTimer> timers{};  ///< In the order in which they were due; equals by id.
    /// When the listener is to ask again, unless it is woken before. `now` if more is due. If it is
    /// another one's turn, `timer_listener_silence` after the next timer is due, in case that one
    /// is gone. `never` if there is no timer, or the listener is busy.
    TimePoint wake_at = never;

    friend bool operator==(const TakenTimers&, const TakenTimers&) = default;
};

/// Takes timers that are due, at most `limit`, and `timer_slice_bytes_max` of payload: whoever asks
/// at `wake_at` gets the rest. First those are put back, due when their time to confirm was over,
/// that nobody confirmed in time, or become DEAD if no retries are left; so do, now, all that were
/// handed out by an earlier process that had the file of this store. Then each timer taken is
/// FIRED, or gone if it has no retries, durably before the reply: at most once.
/// The listener joins those of the namespace if it is not among them. If it was its turn and it
/// took something, the next one has its turn. A listener whose turn it is, and who has not asked
/// for `timer_listener_silence` since it was to, is taken for gone, and joins when it asks again.
/// When the reply is lost, timers without retries are lost with it, and the others fire again.
struct TakeTimers {
    using Reply = TakenTimers;
    static constexpr StepTraits traits{.name = "take_timers",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string listener;  ///< Of its own; `is_timer_name`, else `invalid`.
    /// At most `taken_timers_max`, else `invalid`. 0: it is busy, takes nothing, and is none of the
    /// listeners until it asks for more.
    std::uint32_t limit = 8;
    /// For timers that do not say it themselves. From 1 ms to `timer_confirm_max`, else `invalid`.
    Duration confirm_within{10'000};
};

/// A listener leaves: it has no turn any more. Repeating it changes nothing.
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

/// What became of a confirmation.
enum class TimerConfirmed : std::uint8_t {
    confirmed,
    /// No such firing waits for it: it was confirmed before, came back or died because that took
    /// too long, or was replaced or cancelled. Nothing was changed.
    unknown,
};

/// Forgets a FIRED timer that its listener has dealt with. Repeating it answers `unknown`.
struct ConfirmTimer {
    using Reply = TimerConfirmed;
    static constexpr StepTraits traits{.name = "confirm_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    /// Which firing: its `FiredTimer::retries`. Absent: the last one, whoever has it.
    std::optional<std::uint32_t> retries{};
    /// Its `FiredTimer::firing`. Absent: any.
    std::optional<std::int64_t> firing{};
};

/// Gives a FIRED timer up: it is DEAD, however often it might still come back. Replies 1, or 0 when
/// no such firing waits to be confirmed. Repeating it changes nothing more.
struct GiveUpTimer {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "give_up_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    std::optional<std::uint32_t> retries{};  ///< As in `ConfirmTimer`; so is the next.
    std::optional<std::int64_t> firing{};
    std::string reason{};  ///< The first `timer_reason_max` bytes of it are kept.
};

/// The steps about the firing of timers.
using TimerFiringSteps = StepList<TakeTimers, ConfirmTimer, GiveUpTimer, LeaveTimers>;

}  // namespace routemaster
