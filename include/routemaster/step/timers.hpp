/// @file
/// Steps about timers that wait for their time; step/timer_firings.hpp has those about their
/// firing, and step/dead_timers.hpp those about the DEAD ones. On Redis they share keys and
/// channels with dtimer 0.3.3 for Node (docs/redis-keys.md).

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

/// `invalid` for what is no id of a timer: empty, longer than `timer_id_length_max`, not UTF-8, or
/// with a NUL. So in all steps that name a timer, but for those about a firing: a listener must be
/// able to confirm what another program posted.
[[nodiscard]] Result<void> check_timer_id(std::string_view id);

/// What became of a post.
enum class TimerPosted : std::uint8_t {
    posted,
    replaced,  ///< There was a timer of that id, in any state, which is gone.
    kept,      ///< It is still there, as the step asked for: nothing was changed.
};

/// Puts a timer into a namespace. One of that id that is there, in any state, is replaced, so that
/// a confirmation of its former firing confirms nothing. Wakes the listener whose turn it is when
/// it is due sooner than that was told.
/// Repeating it answers `replaced`; but if the timer has fired in between, it fires again.
struct PostTimer {
    using Reply = TimerPosted;
    static constexpr StepTraits traits{.name = "post_timer",
                                       .repeatable = false,
                                       .changes = Changes::state,
                                       .needs = CapacityNeed::payload};
    /// `invalid` for a namespace that is none by `is_timer_name`; so in all steps. Here also for an
    /// id by `check_timer_id`, or one that is `.` or `..`; for a payload that is no MessagePack,
    /// that JSON cannot carry, or beyond `timer_bytes_max`; and for numbers out of range. In
    /// `action_space` also for a payload that is no action, and without retries.
    [[nodiscard]] Result<void> check() const;
    [[nodiscard]] std::size_t payload_bytes() const noexcept { return payload.size() + id.size(); }

    std::string space;  ///< The namespace.
    std::string id;
    std::string payload;            ///< A value as `encode` encodes it.
    TimePoint due_at;               ///< From 1970 to `due_at_max`; so in all steps.
    std::uint32_t retries_max = 0;  ///< At most `timer_retries_max`.
    /// How long a listener may take to confirm it, at most `timer_confirm_max`. 0: as long as the
    /// listener says.
    Duration confirm_within{0};
    /// Whether a timer of that id is kept, and this one not posted, if it is PENDING or FIRED. A
    /// DEAD one is replaced.
    bool keep = false;
};

/// Forgets a timer that is PENDING or FIRED: it fires no more. A listener that has it keeps it.
/// Repeating it answers `unknown`.
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

/// Gives a PENDING timer another due time, be it sooner or later. Replies 1, or 0 when no timer of
/// that id is PENDING. Repeating it changes nothing more.
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

/// Finds a timer of any state; nothing when there is none of that id.
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

/// Lists timers of one state by their `at` and, among equals, by their ids, bytewise. A page ends
/// at `limit`, or sooner, before it would have more than `timer_slice_bytes_max` of payload: so
/// only an empty one says that there is no further one.
struct ListTimers {
    using Reply = std::vector<TimerStatus>;
    static constexpr StepTraits traits{.name = "list_timers",
                                       .repeatable = true,
                                       .changes = Changes::nothing,
                                       .needs = CapacityNeed::none};
    [[nodiscard]] Result<void> check() const;

    std::string space;
    TimerState state = TimerState::pending;
    TimePoint from = (TimePoint::min)();  ///< The first `at`.
    /// With an id, only what comes after that one at `from`: so the last entry of a page begins the
    /// next.
    std::string after{};
    TimePoint until = never;    ///< The last `at`.
    std::uint32_t limit = 100;  ///< From 1 to 1,000, else `invalid`.
};

/// A namespace in numbers.
struct TimerCounts {
    std::uint64_t pending = 0;
    std::uint64_t fired = 0;
    std::uint64_t dead = 0;
    std::uint64_t listeners = 0;  ///< That take turns: not those that are busy.
    TimePoint next_due = never;   ///< Of the PENDING ones.

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

/// The steps about timers that wait.
using TimerSteps =
    StepList<PostTimer, CancelTimer, PostponeTimer, FindTimer, ListTimers, CountTimers>;

}  // namespace routemaster
