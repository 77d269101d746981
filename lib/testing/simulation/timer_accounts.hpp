/// @file
/// `TimerAccounts`: checks the timers of a world.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/timer_context.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// The namespace of the timers of a world.
inline constexpr const char* timer_space = "reminders";

/// Checker of timers. Fails the simulation when a timer fires too early, too often, too late, or
/// after it was removed, and when a timer is lost. Each post has a unique number as its payload,
/// which identifies the timer of each firing. Replies to changes of a timer arrive in the order of
/// the changes. Not thread safe.
class TimerAccounts {
public:
    explicit TimerAccounts(SimulationContext& context) : context_{context} {}

    void asked(const Step& step, const Submitted& when);
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    /// Called for a step without a reply at power loss. Its effect is unknown.
    void doubt(const Step& step, const Submitted& when);

    void began(const Timer& timer);
    /// Called when the process of the store has ended. All FIRED timers are retried when the next
    /// process gets its first `TakeTimers`.
    void crashed();
    void listened_since(TimePoint moment) noexcept { listened_since_ = moment; }

    /// Fails the simulation unless the timers are as expected. No step may be in progress.
    void compare(const std::vector<TimerStatus>& listed);

private:
    /// A timer that may exist.
    struct Account {
        std::uint64_t asked = 0;
        std::uint32_t retries_max = 0;
        Duration confirm_within{0};
        std::set<TimePoint> dues{};  // When the timer may be due or be retried.
        bool certain = false;
        std::int64_t last = -1;    // The number of retries before the last known firing.
        std::int64_t firing = 0;   // `FiredTimer::firing` of the last known firing.
        std::int64_t doubts = 0;   // Number of possible firings since the last known firing.
        bool may_restart = false;  // The timer may have been DEAD and then reposted since.
        bool holder_gone = false;  // The timer may have been FIRED before a crash.
    };

    void posted(const PostTimer& step, TimerPosted outcome, const Submitted& when);
    void confirmed(const ConfirmTimer& step, const Submitted& when);
    void postponed(const PostponeTimer& step, const Submitted& when);
    void reposted(const RepostDeadTimers& step, const Submitted& when);
    void took(const TakeTimers& step, const TakenTimers& taken, const Submitted& when);
    void fired(const TakeTimers& step, const FiredTimer& firing, const Submitted& when);
    void may_have_taken(const TakeTimers& step, const Submitted& when);
    /// Records that timers FIRED before a crash may be due from this step on.
    void may_have_come_back(const Submitted& when);
    void must_be_in_time(const std::string& what, TimePoint due_at, const Submitted& when) const;

    /// The store replied that the timer with this id was removed. `how` is a word for the message.
    void ended(const std::string& id, const char* how, const Submitted& when);
    /// Removes the expected timers with an id, if posted before a submission. Returns their number.
    std::size_t forget(const std::string& id, std::uint64_t before);
    /// Records that timers with an id, if posted before a submission, may be removed already.
    void unsettle(const std::string& id, std::uint64_t before);
    [[nodiscard]] static bool may_be_dead(const Account& timer);
    [[nodiscard]] static Duration within(const Account& timer, const TakeTimers& step);

    SimulationContext& context_;
    /// By id and number. At most one timer with an id exists at a time. Certainly removed timers
    /// are not listed.
    std::map<std::string, std::map<std::int64_t, Account>> timers_;
    /// Firings that the store has reported, but no listener has handled yet: number, retries and
    /// firing.
    std::set<std::tuple<std::int64_t, std::uint32_t, std::int64_t>> told_;
    TimePoint listened_since_{};
};

}  // namespace routemaster::simulation
