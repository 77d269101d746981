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

/// The timers of a store that perform an action. They are in the namespace `action_space`. An
/// `ActionRunner`, in any process, performs the action in the atomic step that also confirms the
/// timer. After a crash at any point, either the timer exists and its action has not happened, or
/// the action has happened and the timer is gone.
///
/// If the store cannot perform an action now, for example because the store is full, the action is
/// repeated until it succeeds. If the store refuses an action for good, the timer becomes DEAD: it
/// fires no more, and is kept with the reason. This happens when the topic belongs to another
/// publisher, when the subscriber is gone, and when the batch of a push does not exist or has
/// ended. `dead` lists DEAD timers; `repost_dead` makes them PENDING again.
///
/// In all other respects these are ordinary timers: each call works as in `Delayer`. The payload of
/// a timer is its action, which `timer_action` decodes.
///
/// Thread safety: all members may be called from any thread.
class ActionTimers : private Delayer {
public:
    /// The store and the clock must outlive this object.
    explicit ActionTimers(Store& store, const Clock& clock = system_clock())
        : Delayer{store, std::string{action_space}, clock} {}

    /// Posts a timer with an action. A timer with this id is replaced. An empty id stands for a
    /// fresh id. `invalid` as `check` says, and when the action takes more than `timer_bytes_max`
    /// bytes.
    Result<PostedTimer> post(const TimerAction& action, Duration delay, std::string id = {});
    Result<PostedTimer> post(const TimerAction& action, TimePoint at, std::string id = {});
    void post(const TimerAction& action, Duration delay, std::string id,
              std::function<void(Result<PostedTimer>)> done);
    void post(const TimerAction& action, TimePoint at, std::string id,
              std::function<void(Result<PostedTimer>)> done);

    /// Adds a recurring action to the store, or changes the recurring job of this name. At each
    /// tick of the schedule a `RecurringScheduler` posts a timer with the action, due at the tick;
    /// see `Delayer::cron`. While the store cannot perform the action of a tick, the timer of the
    /// tick stays, and the following ticks post no timer unless `overlap` is set. `invalid` as for
    /// `post` and for `RecurringJobs::put`.
    Result<void> cron(std::string name, std::string expression, const TimerAction& action,
                      RecurringActionOptions options = {});
    void cron(std::string name, std::string expression, const TimerAction& action,
              RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// Like `cron`, with an interval as in `Delayer::every`.
    Result<void> every(std::string name, Duration interval, const TimerAction& action,
                       RecurringActionOptions options = {});
    void every(std::string name, Duration interval, const TimerAction& action,
               RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// Checks an action without a look into the store. Returns the error that the action's push or
    /// publication would get by `rules`. The error begins with the word for the action:
    /// `push: queue: …`.
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
