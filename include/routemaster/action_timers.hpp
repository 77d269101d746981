/// @file
/// `ActionTimers`: timers that perform an action: push a job, publish an event, or deliver an event
/// to one subscriber.
///
///     routemaster::ActionTimers actions{*store};
///     actions.post(routemaster::PushAction{.queue = "mail", .job = {"remind", {42}}},
///                  std::chrono::hours{24});
///     actions.post(routemaster::DeliverAction{
///                      "billing", {.topic = "timers", .type = routemaster::EventType::noop,
///                                  .data = routemaster::Value::Map{{"order", 42}}}},
///                  std::chrono::minutes{30}, "overdue/42");
///     actions.cron("digest", "0 7 * * MON-FRI",
///                  routemaster::PushAction{.queue = "mail", .job = {"digest", {}}});

#pragma once

#include <functional>
#include <string>

#include "routemaster/clock.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/timer_options.hpp"

namespace routemaster {

/// Façade for timers that perform an action, for example push a job after a delay. The timers are
/// in the namespace `action_space`. An `ActionRunner`, in any process, performs the action in the
/// atomic step that also confirms the timer. After a crash, either the timer still exists and its
/// action has not happened, or the action has happened and the timer is removed.
///
/// If the store cannot perform an action now, for example because the store is full, the action is
/// retried until it succeeds. If the store rejects an action permanently, the timer becomes DEAD:
/// it does not fire, and stays in the store together with the error. This happens when the topic
/// belongs to another publisher, when the subscriber was removed, and when the batch of a push does
/// not exist or has ended. `dead` lists DEAD timers. `repost_dead` makes them PENDING again.
///
/// Each call works as the call of the same name in `Delayer`. The payload of a timer is its action,
/// which `timer_action` decodes.
///
/// Thread safety: all members may be called from any thread.
class ActionTimers : private Delayer {
public:
    /// The store and the clock must outlive this object.
    explicit ActionTimers(Store& store, const Clock& clock = system_clock())
        : Delayer{store, std::string{action_space}, clock} {}

    /// Posts a timer with an action. A timer with this id is replaced. For an empty id, a fresh id
    /// is generated. `invalid` as `check` says, and when the encoded action is larger than
    /// `timer_bytes_max` bytes.
    Result<PostedTimer> post(const TimerAction& action, Duration delay, std::string id = {});
    Result<PostedTimer> post(const TimerAction& action, TimePoint at, std::string id = {});
    void post(const TimerAction& action, Duration delay, std::string id,
              std::function<void(Result<PostedTimer>)> done);
    void post(const TimerAction& action, TimePoint at, std::string id,
              std::function<void(Result<PostedTimer>)> done);

    /// Adds a recurring action to the store. An existing recurring job with this name is changed.
    /// At each tick of the schedule, a `RecurringScheduler` posts a timer with the action, due at
    /// the tick; see `Delayer::cron`. If the action of an earlier tick is still being retried, a
    /// tick posts no timer, unless `overlap` is set. `invalid` as for `post` and for
    /// `RecurringJobs::put`.
    Result<void> cron(std::string name, std::string expression, const TimerAction& action,
                      RecurringActionOptions options = {});
    void cron(std::string name, std::string expression, const TimerAction& action,
              RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// Like `cron`, but with an interval instead of an expression; see `Delayer::every`.
    Result<void> every(std::string name, Duration interval, const TimerAction& action,
                       RecurringActionOptions options = {});
    void every(std::string name, Duration interval, const TimerAction& action,
               RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// Validates an action without reading the store. Returns the error that a push or publication
    /// of the action would return under `rules`. The error text begins with the kind of the action,
    /// for example `push: queue: …`.
    [[nodiscard]] static Result<void> check(const TimerAction& action,
                                            const PublicationOptions& rules = {});

    using Delayer::cancel;
    using Delayer::counts;
    using Delayer::dead;
    using Delayer::drop_dead;
    using Delayer::list;
    using Delayer::peek;
    using Delayer::postpone;
    using Delayer::repost_dead;
    using Delayer::upcoming;
};

}  // namespace routemaster
