#include "routemaster/action_timers.hpp"

#include <utility>

#include "routemaster/follow_ups.hpp"
#include "routemaster/job_schedule.hpp"
#include "routemaster/timer.hpp"

namespace routemaster {
namespace {

/// Options of a timer with an action. With retries, the timer fires again until an `ActionRunner`
/// has completed it. Without retries, the timer would be lost when its runner dies.
TimerOptions options_of_action(std::string id) {
    return {.id = std::move(id), .retries_max = timer_retries_max};
}

RecurringTimerOptions options_of_ticks(RecurringActionOptions options) {
    return {.time_zone = std::move(options.time_zone),
            .catch_up = options.catch_up,
            .overlap = options.overlap,
            .retries_max = timer_retries_max};
}

}  // namespace

Result<PostedTimer> ActionTimers::post(const TimerAction& action, Duration delay, std::string id) {
    if (auto checked = check(action); !checked) return checked.error();
    return Delayer::post(to_value(action), delay, options_of_action(std::move(id)));
}

Result<PostedTimer> ActionTimers::post(const TimerAction& action, TimePoint at, std::string id) {
    if (auto checked = check(action); !checked) return checked.error();
    return Delayer::post(to_value(action), at, options_of_action(std::move(id)));
}

void ActionTimers::post(const TimerAction& action, Duration delay, std::string id,
                        std::function<void(Result<PostedTimer>)> done) {
    if (auto checked = check(action); !checked) return done(checked.error());
    Delayer::post(to_value(action), delay, options_of_action(std::move(id)), std::move(done));
}

void ActionTimers::post(const TimerAction& action, TimePoint at, std::string id,
                        std::function<void(Result<PostedTimer>)> done) {
    if (auto checked = check(action); !checked) return done(checked.error());
    Delayer::post(to_value(action), at, options_of_action(std::move(id)), std::move(done));
}

Result<void> ActionTimers::cron(std::string name, std::string expression, const TimerAction& action,
                                RecurringActionOptions options) {
    if (auto checked = check(action); !checked) return checked;
    return Delayer::cron(std::move(name), std::move(expression), to_value(action),
                         options_of_ticks(std::move(options)));
}

void ActionTimers::cron(std::string name, std::string expression, const TimerAction& action,
                        RecurringActionOptions options, std::function<void(Result<void>)> done) {
    if (auto checked = check(action); !checked) return done(checked);
    Delayer::cron(std::move(name), std::move(expression), to_value(action),
                  options_of_ticks(std::move(options)), std::move(done));
}

Result<void> ActionTimers::every(std::string name, Duration interval, const TimerAction& action,
                                 RecurringActionOptions options) {
    return cron(std::move(name), JobSchedule::every(interval), action, std::move(options));
}

void ActionTimers::every(std::string name, Duration interval, const TimerAction& action,
                         RecurringActionOptions options, std::function<void(Result<void>)> done) {
    cron(std::move(name), JobSchedule::every(interval), action, std::move(options),
         std::move(done));
}

Result<void> ActionTimers::check(const TimerAction& action, const PublicationOptions& rules) {
    return FollowUps{}.act(action, rules, TimePoint{});
}

}  // namespace routemaster
