/// @file
/// `Delayer`: timers that survive the program.
///
///     routemaster::Delayer reminders{*store, "reminders"};
///     const auto posted = reminders.post({"call Ada"}, std::chrono::minutes{5}).value();
///     const auto listener = reminders.listen(
///         [](const routemaster::Timer& timer) { remind(timer.payload); });

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer.hpp"
#include "routemaster/timer_explanation.hpp"
#include "routemaster/timer_listener.hpp"
#include "routemaster/timer_options.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

class FollowUps;
struct PostTimer;

/// One namespace of timers. Any number of objects, in any processes, may share one, and so may any
/// number of listeners, who take turns.
///
/// A timer that was posted survives a crash as the store promises. It is handed to one listener
/// when it is due, never before: at most once if it has no retries; else again and again until it
/// is confirmed, or has been fired `retries_max` times more. One that nobody confirmed becomes
/// DEAD, and is kept: see `dead`.
///
/// The payload is any value that JSON can carry, of at most `timer_bytes_max`; else `invalid`.
/// `invalid` is also what every call answers if the namespace is none by `is_timer_name`, or an id
/// none by `check_timer_id`. The namespace of `ActionTimers` is reserved for them: see
/// `action_space`.
///
/// Due times are those of the wall clock. Negative delays mean now, and those that lead beyond
/// `due_at_max` mean that. An instant that a call names is from 1970 to there, else `invalid`.
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class Delayer {
public:
    /// The store and the clock must outlive it, and its listeners.
    Delayer(Store& store, std::string space, const Clock& clock = system_clock());

    // --- Posting --------------------------------------------------------------------------------

    /// Puts a timer into the namespace, due after a delay or at an instant. Returns its id, and
    /// whether one of that id was there, in any state, and is gone.
    ///
    /// A post in doubt (`timed_out`) may be repeated if it gave an id: the timer is then there
    /// once, but if it has fired in between, it fires again.
    Result<PostedTimer> post(const Value& payload, Duration delay, TimerOptions options = {});
    Result<PostedTimer> post(const Value& payload, TimePoint at, TimerOptions options = {});
    void post(const Value& payload, Duration delay, TimerOptions options,
              std::function<void(Result<PostedTimer>)> done);
    void post(const Value& payload, TimePoint at, TimerOptions options,
              std::function<void(Result<PostedTimer>)> done);

    /// Posts many timers, in order, in one trip to the store, and returns the result of each. On an
    /// embedded store those up to `row_bytes_max` share one commit: all are there, or none.
    std::vector<Result<PostedTimer>> post_many(std::span<const TimerPost> posts);
    void post_many(std::span<const TimerPost> posts,
                   std::function<void(std::vector<Result<PostedTimer>>)> done);

    /// Why `post` would refuse a timer as `invalid`, whatever is in the namespace.
    [[nodiscard]] Result<void> check(const TimerPost& post) const;

    // --- Recurring ------------------------------------------------------------------------------

    /// Adds a recurring timer to the store, or changes the one of that name: a `RecurringScheduler`
    /// posts a timer into this namespace at each tick, due at the tick. `RecurringJobs` lists,
    /// pauses, resumes, triggers and removes it, and has the rules; their names are one list.
    ///
    /// The id of the timer is `recurring:` and the name. By default a tick keeps a timer of that id
    /// that is PENDING or FIRED, and replaces a DEAD one. With `overlap` each tick has a timer of
    /// its own: its id ends in a colon and the tick in milliseconds since the Unix epoch. The tick
    /// is `Timer::due_at` of its first firing, on Redis to the difference of the clocks.
    Result<void> cron(std::string name, std::string expression, const Value& payload,
                      RecurringTimerOptions options = {});
    void cron(std::string name, std::string expression, const Value& payload,
              RecurringTimerOptions options, std::function<void(Result<void>)> done);

    /// The same with an interval, from 1 s to 3,650 days in whole seconds, which is counted from
    /// 1970-01-01T00:00:00Z.
    Result<void> every(std::string name, Duration interval, const Value& payload,
                       RecurringTimerOptions options = {});
    void every(std::string name, Duration interval, const Value& payload,
               RecurringTimerOptions options, std::function<void(Result<void>)> done);

    // --- Changing -------------------------------------------------------------------------------

    /// Forgets a timer that is PENDING or FIRED: it fires no more. A handler that has it goes on.
    Result<Removal> cancel(std::string id);
    void cancel(std::string id, std::function<void(Result<Removal>)> done);

    /// Gives a PENDING timer another due time, sooner or later. False when none of that id is
    /// PENDING.
    Result<bool> postpone(std::string id, Duration delay);
    Result<bool> postpone(std::string id, TimePoint at);
    void postpone(std::string id, Duration delay, std::function<void(Result<bool>)> done);
    void postpone(std::string id, TimePoint at, std::function<void(Result<bool>)> done);

    /// Confirms the last firing of a timer, whoever has it; or only the one that has `retries` as
    /// its `Timer::retries`, and `firing` as its `Timer::firing`. Listeners do so by themselves
    /// when their handlers return.
    Result<TimerConfirmed> confirm(std::string id, std::optional<std::uint32_t> retries = {},
                                   std::optional<std::int64_t> firing = {});
    void confirm(std::string id, std::optional<std::uint32_t> retries,
                 std::optional<std::int64_t> firing,
                 std::function<void(Result<TimerConfirmed>)> done);

    /// Confirms a firing, and lets jobs, events and timers follow, in one step: all of it or
    /// nothing. `unknown` when no such firing waits for it. With the errors of `CompleteTimer`.
    /// Handlers of listeners have `TimerContext` for that.
    Result<TimerConfirmed> complete(std::string id, std::uint32_t retries, FollowUps follow_ups,
                                    std::optional<std::int64_t> firing = {});
    void complete(std::string id, std::uint32_t retries, FollowUps follow_ups,
                  std::optional<std::int64_t> firing,
                  std::function<void(Result<TimerConfirmed>)> done);

    // --- Looking --------------------------------------------------------------------------------

    /// A timer of any state; nothing when there is none of that id.
    [[nodiscard]] Result<std::optional<TimerStatus>> peek(std::string id) const;
    void peek(std::string id, std::function<void(Result<std::optional<TimerStatus>>)> done) const;

    /// Why a timer has not fired, or what became of it, which `to_text` says in words.
    [[nodiscard]] Result<std::optional<TimerExplanation>> explain(std::string id) const;
    void explain(std::string id,
                 std::function<void(Result<std::optional<TimerExplanation>>)> done) const;

    /// The PENDING timers of a span of time, the next one first.
    [[nodiscard]] Result<std::vector<TimerStatus>> upcoming(UpcomingTimers span = {}) const;
    void upcoming(UpcomingTimers span,
                  std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// A page of the timers of one state. See `TimerPage::following` for the next.
    [[nodiscard]] Result<std::vector<TimerStatus>> list(TimerState state,
                                                        TimerPage page = {}) const;
    void list(TimerState state, TimerPage page,
              std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// How many timers there are in each state, how many listeners, and when the next one is due.
    [[nodiscard]] Result<TimerCounts> counts() const;
    void counts(std::function<void(Result<TimerCounts>)> done) const;

    // --- DEAD timers ----------------------------------------------------------------------------

    /// A page of the timers that were given up, of which a namespace keeps `dead_timers_max`; those
    /// that died first come first.
    [[nodiscard]] Result<std::vector<TimerStatus>> dead(TimerPage page = {}) const;
    void dead(TimerPage page, std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// Makes DEAD timers PENDING again, due after the delay and with all their retries: the one of
    /// that id, or, without an id, all. Returns how many there were.
    Result<std::uint64_t> repost_dead(std::optional<std::string> id, Duration delay = Duration{0});
    void repost_dead(std::optional<std::string> id, Duration delay,
                     std::function<void(Result<std::uint64_t>)> done);

    /// Forgets DEAD timers: the one of that id, or, without an id, all. Returns how many.
    Result<std::uint64_t> drop_dead(std::optional<std::string> id);
    void drop_dead(std::optional<std::string> id, std::function<void(Result<std::uint64_t>)> done);

    // --- Listening ------------------------------------------------------------------------------

    /// Begins to handle timers, in threads of its own, until the listener is stopped or destroyed.
    /// Throws `Failure` as the constructor of `TimerListener` and `TimerListener::start` do.
    /// Without a clock in the options it uses that of this object.
    [[nodiscard]] TimerListener listen(TimerHandler handler, TimerListenerOptions options = {});
    /// The same for a handler that confirms later.
    [[nodiscard]] TimerListener listen_async(AsyncTimerHandler handler,
                                             TimerListenerOptions options = {});

private:
    [[nodiscard]] PostTimer step(const Value& payload, TimePoint at, TimerOptions options);
    [[nodiscard]] std::vector<PostTimer> steps(std::span<const TimerPost> posts, TimePoint now);

    Store& store_;
    std::string space_;
    const Clock& clock_;
    UidSource uids_;
};

}  // namespace routemaster
