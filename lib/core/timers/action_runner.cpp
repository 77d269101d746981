#include "routemaster/action_runner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/codec/object_fields.hpp"
#include "core/store/store_errors.hpp"
#include "core/system/owner_process.hpp"
#include "core/timers/work/timer_loop.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/error.hpp"
#include "routemaster/follow_ups.hpp"
#include "routemaster/reject.hpp"
#include "routemaster/timer_action.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {
namespace {

/// Upper limit for the actions in one submission to the store.
constexpr std::uint32_t actions_max = 100;

/// Handles a due timer: adds the action of the timer as its follow-up.
void do_action(TimerContext& timer) {
    const auto action = timer_action(timer.payload);
    if (!action) throw Reject{action.error().message()};
    if (const auto done = timer.act(*action); !done) throw Reject{done.error().message()};
}

/// Rewords the error of a rejected follow-up in terms of the action. The action is the only
/// follow-up of the timer.
Error refusal_of(const FollowUps& all, const Error& error) {
    if (!all.pushes().empty()) {
        return detail::headed("push", detail::without_place("pushes", 0, error));
    }
    const bool is_for_one =
        !all.publications().empty() && all.publications().front().subscriber.has_value();
    return detail::headed(is_for_one ? "deliver" : "publish",
                          detail::without_place("publications", 0, error));
}

/// No thread is needed: the handler only adds follow-ups and does not block, and the polling thread
/// runs it.
TimerListenerOptions listener_options(ActionRunnerOptions options) {
    return {.name = std::string{Uid{entropy(), entropy()}.text()},
            .threads = 0,
            .concurrency = actions_max,
            .batch_max = actions_max,
            .confirm_within = std::max(options.confirm_within, Duration{1}),
            .poll_interval = std::max(options.poll_interval, Duration{1}),
            .clock = options.clock,
            .log = std::move(options.log)};
}

}  // namespace

class ActionRunner::Impl {
public:
    Impl(Store& store, ActionRunnerOptions options)
        : loop{store,
               std::string{action_space},
               {.handle = do_action, .refusal = refusal_of},
               listener_options(std::move(options))} {}

    const detail::OwnerProcess process{"action runner"};
    detail::TimerLoop loop;
};

ActionRunner::ActionRunner(Store& store, ActionRunnerOptions options)
    : impl_{std::make_unique<Impl>(store, std::move(options))} {}

ActionRunner::~ActionRunner() { detail::leave_to_parent(impl_); }

TimePoint ActionRunner::poll(TimePoint now) { return detail::own(impl_).loop.poll(now); }

void ActionRunner::wake_with(std::function<void()> wake) {
    detail::own(impl_).loop.wake_with(std::move(wake));
}

void ActionRunner::close(TimePoint deadline) { detail::own(impl_).loop.close(deadline); }

bool ActionRunner::closed() const { return detail::own(impl_).loop.closed(); }

TimerListenerStatus ActionRunner::status() const { return detail::own(impl_).loop.status(); }

std::optional<std::string> ActionRunner::trouble() const {
    return detail::own(impl_).loop.trouble();
}

}  // namespace routemaster
