/// @file
/// Steps about timers that wait for their due time. See step/timer_firings.hpp for the firing of
/// timers, and step/dead_timers.hpp for DEAD timers. On Redis, timers share keys and channels with
/// dtimer 0.3.3 for Node (docs/redis-keys.md).

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Checks the id of a timer: `invalid` if the id is empty, longer than `timer_id_length_max`, not
/// UTF-8, or contains a NUL. All steps with the id of a timer check this, except steps about a
/// firing, because a listener must be able to confirm timers that other programs posted.
[[nodiscard]] Result<void> check_timer_id(std::string_view id);

/// The reply to a post.
enum class TimerPosted : std::uint8_t {
    posted,
    replaced,  ///< A timer with this id, in any state, was replaced.
    kept,      ///< A timer with this id was kept, as `keep` asked; nothing was changed.
};

/// Puts a timer into a namespace. A timer with this id, in any state, is replaced; a confirmation
/// of its old firing then does nothing. If the timer is due sooner than the listener with the turn
/// knows, this listener is woken.
/// A repetition replies `replaced`; if the timer fired in between, it fires again.
struct PostTimer {
    using Reply = TimerPosted;
    static constexpr StepTraits traits{.name = "post_timer",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    /// Every step checks the name of its namespace: `invalid` unless `is_timer_name`. This step is
    /// also `invalid` in the following cases: the id fails `check_timer_id`, or is `.` or `..`; the
    /// payload is not MessagePack, cannot be expressed in JSON, or exceeds `timer_bytes_max`; a
    /// number is out of range. In `action_space` also if the payload is not an action, or if the
    /// timer has no retries.
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return payload.size() + id.size(); }

    std::string space;  ///< The namespace.
    std::string id;
    std::string payload;            ///< A value encoded by `encode`.
    TimePoint due_at;               ///< From 1970 to `due_at_max`, in all steps.
    std::uint32_t retries_max = 0;  ///< At most `timer_retries_max`.
    /// How long a listener may take to confirm the timer, at most `timer_confirm_max`. 0: the
    /// listener's `confirm_within`. Without retries only 0, else `invalid`.
    Duration confirm_within{0};
    /// If true, and a timer with this id is PENDING or FIRED, it is kept, and nothing is posted. A
    /// DEAD timer is replaced.
    bool keep = false;
};

/// Forgets a PENDING or FIRED timer, which will not fire again. If a listener has already received
/// the timer, its handler still runs. A repetition replies `unknown`.
struct CancelTimer {
    using Reply = Removal;
    static constexpr StepTraits traits{.name = "cancel_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
};

/// Sets a new due time, earlier or later, for a PENDING timer. Replies 1, or 0 if no PENDING timer
/// has this id. A repetition changes nothing more.
struct PostponeTimer {
    using Reply = Count;
    static constexpr StepTraits traits{.name = "postpone_timer",
                                       .repeatable = true,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
    TimePoint due_at;
};

/// Replies with a timer in any state; nothing if no timer has this id.
struct FindTimer {
    using Reply = std::optional<TimerStatus>;
    static constexpr StepTraits traits{.name = "find_timer",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    std::string id;
};

/// Lists timers in a state, ordered by their `at`, then by the bytes of their ids. A page contains
/// at most `limit` timers and at most `timer_slice_bytes_max` of payload, and may therefore be
/// short. The end of the list is reached when a page is empty.
struct ListTimers {
    using Reply = std::vector<TimerStatus>;
    static constexpr StepTraits traits{.name = "list_timers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    TimerState state = TimerState::pending;
    TimePoint from = (TimePoint::min)();  ///< The earliest `at`.
    /// If not empty: at `from`, only timers with greater ids. The last entry of a page gives `from`
    /// and `after` of the next page.
    std::string after{};
    TimePoint until = never;    ///< The latest `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000, else `invalid`.
};

/// The number of timers of a namespace in each state, and of its listeners.
struct TimerCounts {
    std::uint64_t pending = 0;
    std::uint64_t fired = 0;
    std::uint64_t dead = 0;
    std::uint64_t listeners = 0;  ///< Listeners that take turns, without busy ones.
    TimePoint next_due = never;   ///< When the next PENDING timer is due.

    friend bool operator==(const TimerCounts&, const TimerCounts&) = default;
};

/// Counts the timers of a namespace, in constant time.
struct CountTimers {
    using Reply = TimerCounts;
    static constexpr StepTraits traits{.name = "count_timers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
};

/// The steps about timers that wait for their due time.
using TimerSteps =
    StepList<PostTimer, CancelTimer, PostponeTimer, FindTimer, ListTimers, CountTimers>;

}  // namespace routemaster
