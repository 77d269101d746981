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

constexpr std::uint32_t actions_max = 100;

/// Handler of a due timer. Adds the timer's action, a push or a publication, which the store
/// performs when it confirms the timer.
void do_action(TimerContext& timer) {
    const auto action = timer_action(timer.payload);
    if (!action) throw Reject{action.error().message()};
    if (const auto done = timer.act(*action); !done) throw Reject{done.error().message()};
}

/// Rewords the store's error about a push or publication as an error of the timer's action. The
/// action is the only push or publication of the timer.
Error refusal_of(const FollowUps& all, const Error& error) {
    if (!all.pushes().empty()) {
        return detail::headed("push", detail::without_place("pushes", 0, error));
    }
    const bool is_for_one =
        !all.publications().empty() && all.publications().front().subscriber.has_value();
    return detail::headed(is_for_one ? "deliver" : "publish",
                          detail::without_place("publications", 0, error));
}

/// Options of the timer listener that performs the actions. The listener needs no thread, because
/// its handler does not block: it only adds an action to a step. The thread that calls
/// `ActionRunner::poll` therefore runs the handler.
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
