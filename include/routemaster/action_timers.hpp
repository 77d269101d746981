/// @file
/// `ActionTimers`: timers that do something by themselves: push a job, publish an event, or hand
/// one to a subscriber.
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

/// The timers of a store that have an action: those of the namespace `action_space`. What they do
/// is done by an `ActionRunner`, in whatever process, in the step that confirms the timer: after a
/// crash at any point there is the timer and nothing of what it does, or that and not the timer.
///
/// What a store cannot do now, for want of space for example, is done when it can. What it refuses
/// for good, because the topic belongs to another publisher, the subscriber is gone, or the batch
/// of a push does not exist or has ended, makes the timer DEAD, with the reason: `dead` lists it,
/// and `repost_dead` tries it again.
///
/// In all other respects they are timers: each call is that of `Delayer`, and the payload of a
/// timer that is found or listed is its action (`timer_action`).
///
/// Thread safety: all members may be called from any thread.
class ActionTimers : private Delayer {
public:
    /// The store and the clock must outlive it.
    explicit ActionTimers(Store& store, const Clock& clock = system_clock())
        : Delayer{store, std::string{action_space}, clock} {}

    /// Posts a timer. One of that id is replaced; empty: a fresh id. `invalid` as `check` says, and
    /// when the action takes more than `timer_bytes_max`.
    Result<PostedTimer> post(const TimerAction& action, Duration delay, std::string id = {});
    Result<PostedTimer> post(const TimerAction& action, TimePoint at, std::string id = {});
    void post(const TimerAction& action, Duration delay, std::string id,
              std::function<void(Result<PostedTimer>)> done);
    void post(const TimerAction& action, TimePoint at, std::string id,
              std::function<void(Result<PostedTimer>)> done);

    /// Adds a recurring action to the store, or changes the recurring job of that name: at each
    /// tick a `RecurringScheduler` posts a timer that does it, due at the tick, as `Delayer::cron`
    /// says. So a tick that the store cannot do now is done when it can, and meanwhile keeps the
    /// next ones from being posted, unless they `overlap`. `invalid` as `post`, and as
    /// `RecurringJobs::put`.
    Result<void> cron(std::string name, std::string expression, const TimerAction& action,
                      RecurringActionOptions options = {});
    void cron(std::string name, std::string expression, const TimerAction& action,
              RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// The same with an interval, as `Delayer::every` has it.
    Result<void> every(std::string name, Duration interval, const TimerAction& action,
                       RecurringActionOptions options = {});
    void every(std::string name, Duration interval, const TimerAction& action,
               RecurringActionOptions options, std::function<void(Result<void>)> done);

    /// Why an action would be refused whatever is in the store: as the push or the publication that
    /// it stands for, by `rules`. The error begins with the word for the action: `push: queue: …`.
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
