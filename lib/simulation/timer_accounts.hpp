/// @file
/// The account of the timers of a world: which there are, when each may fire, and how often.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/timer_context.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// The namespace of the timers of a world.
inline constexpr const char* timer_space = "reminders";

/// Follows which timers there are, and ends the world when one fires before its time, more often
/// than it may, after its end, or late; and when one is lost. Each post has a number of its own as
/// payload, so it is known of each firing what it is of. What changes a timer is answered in the
/// order in which it was performed. Not thread safe.
class TimerAccounts {
public:
    /// `context` must outlive it.
    explicit TimerAccounts(SimulationContext& context) : context_{context} {}

    /// A step is about to be performed.
    void asked(const Step& step, const Submitted& when);
    /// It was answered, or refused.
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    /// Power was lost before it was answered: it may have been done or not.
    void doubt(const Step& step, const Submitted& when);

    /// A listener begins to handle a timer.
    void began(const Timer& timer);
    /// The process of the store has ended, and all that it handed out comes back once another one
    /// is asked for timers.
    void crashed();
    /// One of the listeners has been there, and free to take timers, since that moment.
    void listened_since(TimePoint moment) noexcept { listened_since_ = moment; }

    /// Ends the world unless these are the timers that there must be. Nothing may be under way.
    void compare(const std::vector<TimerStatus>& listed);

private:
    /// One that may be there.
    struct Account {
        std::uint64_t asked = 0;  // The number of the submission that posted it.
        std::uint32_t retries_max = 0;
        Duration confirm_within{0};
        std::set<TimePoint> dues{};  // It is due, or comes back, at one of these.
        bool certain = false;        // It is there.
        std::int64_t last = -1;      // How often it had been fired before the last known firing.
        std::int64_t firing = 0;     // `FiredTimer::firing` of that one.
        std::int64_t doubts = 0;     // Firings since then that may have happened.
        bool may_restart = false;    // It may have been DEAD and reposted since then.
        bool holder_gone = false;    // It may be FIRED since before a crash.
    };

    void posted(const PostTimer& step, TimerPosted outcome, const Submitted& when);
    void confirmed(const ConfirmTimer& step, const Submitted& when);
    void postponed(const PostponeTimer& step, const Submitted& when);
    void reposted(const RepostDeadTimers& step, const Submitted& when);
    void took(const TakeTimers& step, const TakenTimers& taken, const Submitted& when);
    void fired(const TakeTimers& step, const FiredTimer& firing, const Submitted& when);
    void may_have_taken(const TakeTimers& step, const Submitted& when);
    /// What was FIRED before a crash is back by that question, or was before.
    void may_have_come_back(const Submitted& when);
    void must_be_in_time(const std::string& what, TimePoint due_at, const Submitted& when) const;

    /// The timer of that id is gone, as the store says. `how`: for the message.
    void ended(const std::string& id, const char* how, const Submitted& when);
    /// Forgets those of an id that were posted before. Returns how many those are.
    std::size_t forget(const std::string& id, std::uint64_t before);
    /// Those of an id that were posted before may be gone.
    void unsettle(const std::string& id, std::uint64_t before);
    [[nodiscard]] static bool may_be_dead(const Account& timer);
    [[nodiscard]] static Duration within(const Account& timer, const TakeTimers& step);

    SimulationContext& context_;
    /// By id and number. Of an id at most one is there, and those that are certainly gone are not
    /// kept.
    std::map<std::string, std::map<std::int64_t, Account>> timers_;
    /// Firings that the store told of and nobody has handled: number, retries and firing.
    std::set<std::tuple<std::int64_t, std::uint32_t, std::int64_t>> told_;
    TimePoint listened_since_{};
};

}  // namespace routemaster::simulation
