/// @file
/// `Delayer`: durable timers.
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
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/store/step/timers.hpp"
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

/// Façade for one namespace of timers. Several `Delayer` objects and listeners, also in several
/// processes, may share a namespace. Each timer goes to one of the listeners.
///
/// A posted timer is as durable as its store promises. When a timer is due, and never earlier, it
/// fires: one listener receives it. Without retries a timer fires at most once. With retries it
/// fires again until a listener confirms it, up to `retries_max` more times. If no listener
/// confirms the last firing, the timer becomes DEAD and stays in the store; see `dead`.
///
/// The payload is any value that JSON can represent, of at most `timer_bytes_max` bytes; else
/// `invalid`. Every call returns `invalid` when the namespace does not satisfy `is_timer_name`, or
/// an id does not satisfy `check_timer_id`. `ActionTimers` reserves the namespace `action_space`.
///
/// Due times refer to the wall clock. A negative delay counts as 0. A delay beyond `due_at_max` is
/// cut. An instant passed to a call must be from 1970 to `due_at_max`, else `invalid`.
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class Delayer {
public:
    /// The store and the clock must outlive this object and its listeners.
    Delayer(Store& store, std::string space, const Clock& clock = system_clock());

    // --- Posting --------------------------------------------------------------------------------

    /// Posts a timer, due after a delay or at an instant. Returns its id, and whether a timer with
    /// this id, in any state, was replaced.
    ///
    /// A post that `timed_out` may or may not have happened. If it has an id, it may be retried,
    /// because the timer then exists once. But if the timer fired in between, it fires again.
    Result<PostedTimer> post(const Value& payload, Duration delay, TimerOptions options = {});
    Result<PostedTimer> post(const Value& payload, TimePoint at, TimerOptions options = {});
    void post(const Value& payload, Duration delay, TimerOptions options,
              std::function<void(Result<PostedTimer>)> done);
    void post(const Value& payload, TimePoint at, TimerOptions options,
              std::function<void(Result<PostedTimer>)> done);

    /// Posts timers in order, in one round trip to the store. Returns one result per timer. An
    /// embedded store commits posts of up to `row_bytes_max` bytes in one transaction, all or none.
    std::vector<Result<PostedTimer>> post_many(std::span<const TimerPost> posts);
    void post_many(std::span<const TimerPost> posts,
                   std::function<void(std::vector<Result<PostedTimer>>)> done);

    /// Validates a timer as `post` does, without reading the store.
    [[nodiscard]] Result<void> check(const TimerPost& post) const;

    // --- Recurring ------------------------------------------------------------------------------

    /// Adds a recurring timer to the store. An existing recurring job with this name is changed. At
    /// each tick of the schedule, a `RecurringScheduler` posts a timer into this namespace, due at
    /// the tick. `RecurringJobs` lists, pauses, resumes, triggers and removes recurring timers, and
    /// documents the rules. Names are unique among recurring timers and recurring jobs together.
    ///
    /// The id of the timer is `recurring:` and the name. By default a tick keeps a PENDING or FIRED
    /// timer with this id, and replaces a DEAD timer. With `overlap` each tick posts a separate
    /// timer. Its id then ends in a colon and the tick in milliseconds since the Unix epoch.
    /// `Timer::due_at` of the first firing is the tick, on Redis up to a difference of the clocks.
    Result<void> cron(std::string name, std::string expression, const Value& payload,
                      RecurringTimerOptions options = {});
    void cron(std::string name, std::string expression, const Value& payload,
              RecurringTimerOptions options, std::function<void(Result<void>)> done);

    /// Like `cron`, with an interval of 1 s to 3,650 days in whole seconds, counted from
    /// 1970-01-01T00:00:00Z.
    Result<void> every(std::string name, Duration interval, const Value& payload,
                       RecurringTimerOptions options = {});
    void every(std::string name, Duration interval, const Value& payload,
               RecurringTimerOptions options, std::function<void(Result<void>)> done);

    // --- Changing -------------------------------------------------------------------------------

    /// Removes a PENDING or FIRED timer, so it fires no more. A running handler continues.
    Result<Removal> cancel(std::string id);
    void cancel(std::string id, std::function<void(Result<Removal>)> done);

    /// Changes the due time of a PENDING timer, to an earlier or a later time. Returns false when
    /// no timer with this id is PENDING.
    Result<bool> postpone(std::string id, Duration delay);
    Result<bool> postpone(std::string id, TimePoint at);
    void postpone(std::string id, Duration delay, std::function<void(Result<bool>)> done);
    void postpone(std::string id, TimePoint at, std::function<void(Result<bool>)> done);

    /// Confirms the last firing of a timer, no matter which listener received it. With `retries` or
    /// `firing`, confirms only the firing with equal `Timer::retries` and `Timer::firing`.
    /// Listeners call this themselves when their handlers return.
    Result<TimerConfirmed> confirm(std::string id, std::optional<std::uint32_t> retries = {},
                                   std::optional<std::int64_t> firing = {});
    void confirm(std::string id, std::optional<std::uint32_t> retries,
                 std::optional<std::int64_t> firing,
                 std::function<void(Result<TimerConfirmed>)> done);

    /// Confirms a firing and performs its follow-ups (jobs, events, timers) in one atomic step.
    /// Returns `unknown` when this firing does not await confirmation. Also returns the errors of
    /// `CompleteTimer`. A handler of a listener uses `TimerContext` instead.
    Result<TimerConfirmed> complete(std::string id, std::uint32_t retries, FollowUps follow_ups,
                                    std::optional<std::int64_t> firing = {});
    void complete(std::string id, std::uint32_t retries, FollowUps follow_ups,
                  std::optional<std::int64_t> firing,
                  std::function<void(Result<TimerConfirmed>)> done);

    // --- Reading --------------------------------------------------------------------------------

    /// Returns a timer in any state, or nothing when no timer has this id.
    [[nodiscard]] Result<std::optional<TimerStatus>> peek(std::string id) const;
    void peek(std::string id, std::function<void(Result<std::optional<TimerStatus>>)> done) const;

    /// Returns why a timer has not fired, or how it ended. `to_text` formats the explanation.
    [[nodiscard]] Result<std::optional<TimerExplanation>> explain(std::string id) const;
    void explain(std::string id,
                 std::function<void(Result<std::optional<TimerExplanation>>)> done) const;

    /// Returns the PENDING timers that are due within a time span, the earliest first.
    [[nodiscard]] Result<std::vector<TimerStatus>> upcoming(UpcomingTimers span = {}) const;
    void upcoming(UpcomingTimers span,
                  std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// A page of the timers in one state. `TimerPage::following` returns the next page.
    [[nodiscard]] Result<std::vector<TimerStatus>> list(TimerState state,
                                                        TimerPage page = {}) const;
    void list(TimerState state, TimerPage page,
              std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// The number of timers in each state, the number of listeners, and the next due time.
    [[nodiscard]] Result<TimerCounts> counts() const;
    void counts(std::function<void(Result<TimerCounts>)> done) const;

    // --- DEAD timers ----------------------------------------------------------------------------

    /// A page of the DEAD timers, in the order of their deaths. A namespace retains up to
    /// `dead_timers_max` DEAD timers.
    [[nodiscard]] Result<std::vector<TimerStatus>> dead(TimerPage page = {}) const;
    void dead(TimerPage page, std::function<void(Result<std::vector<TimerStatus>>)> done) const;

    /// Makes a DEAD timer PENDING again, due after the delay, and with its full number of retries.
    /// Without an id, does so for all DEAD timers. Returns the number of changed timers.
    Result<std::uint64_t> repost_dead(std::optional<std::string> id, Duration delay = Duration{0});
    void repost_dead(std::optional<std::string> id, Duration delay,
                     std::function<void(Result<std::uint64_t>)> done);

    /// Removes a DEAD timer; without an id, all DEAD timers. Returns the number of removed timers.
    Result<std::uint64_t> drop_dead(std::optional<std::string> id);
    void drop_dead(std::optional<std::string> id, std::function<void(Result<std::uint64_t>)> done);

    // --- Listening ------------------------------------------------------------------------------

    /// Starts a listener, which handles timers on its own threads until it is stopped or destroyed.
    /// Throws `Failure` as the constructor of `TimerListener` and `TimerListener::start` do. If the
    /// options have no clock, the listener uses the clock of this object.
    [[nodiscard]] TimerListener listen(TimerHandler handler, TimerListenerOptions options = {});
    /// Like `listen`, with a handler that confirms a firing asynchronously.
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
