/// @file
/// Steps for timers that wait for their due time. For the firing of timers, see
/// step/timer_firings.hpp; for DEAD timers, see step/dead_timers.hpp. On Redis, timers share keys
/// and channels with dtimer 0.3.3 for Node (docs/redis-keys.md).

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {

/// Validates the id of a timer: `invalid` if the id is empty, longer than `timer_id_length_max`,
/// not UTF-8, or contains a NUL. All steps with a timer id check this, except steps for a firing,
/// because a listener must be able to confirm timers that other programs posted.
[[nodiscard]] Result<void> check_timer_id(std::string_view id);

/// The reply to a post.
enum class TimerPosted : std::uint8_t {
    posted,
    replaced,  ///< A timer with this id, in any state, was replaced.
    kept,      ///< A timer with this id was kept, because of `keep`; nothing was changed.
};

/// Posts a timer to a namespace. A timer with this id, in any state, is replaced; a confirmation of
/// its old firing then has no effect. If the new timer is due earlier than the listener with the
/// turn expects (see `TakeTimers`), this listener is woken. A repetition replies `replaced`; if the
/// timer fired in between, it fires again.
struct PostTimer {
    using Reply = TimerPosted;
    static constexpr StepTraits traits{.name = "post_timer",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    /// Every step validates its namespace: `invalid` unless `is_timer_name`. This step is also
    /// `invalid` in the following cases: the id fails `check_timer_id`, or is `.` or `..`; the
    /// payload is not MessagePack, cannot be represented in JSON, or exceeds `timer_bytes_max`; a
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
    /// If true, a PENDING or FIRED timer with this id is kept, and nothing is posted. A DEAD timer
    /// is replaced.
    bool keep = false;
};

/// Removes a PENDING or FIRED timer, so that it does not fire again. If a listener has already
/// received the timer, its handler still runs. A repetition replies `unknown`.
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

/// Changes the due time of a PENDING timer, to an earlier or a later time. Replies 1, or 0 if no
/// PENDING timer has this id. A repetition changes nothing more.
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

/// Finds a timer in any state by its id. Replies nothing if no timer has this id.
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

/// Lists timers in a state, sorted by their `at`, then by the bytes of their ids. A page has at
/// most `limit` timers and at most `timer_slice_bytes_max` bytes of payloads, so it may be short
/// although more timers follow. The list ends with an empty page.
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
    /// If not empty: at `from`, only greater ids are listed. `from` and `after` of the next page
    /// are the `at` and the id of the last entry of this page.
    std::string after{};
    TimePoint until = never;    ///< The latest `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000, else `invalid`.
};

/// Counts of a namespace: its timers by state, and its listeners.
struct TimerCounts {
    std::uint64_t pending = 0;
    std::uint64_t fired = 0;
    std::uint64_t dead = 0;
    std::uint64_t listeners = 0;  ///< Listeners in the rotation, without busy ones.
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

/// The list of the steps for timers that wait for their due time.
using TimerSteps =
    StepList<PostTimer, CancelTimer, PostponeTimer, FindTimer, ListTimers, CountTimers>;

}  // namespace routemaster
