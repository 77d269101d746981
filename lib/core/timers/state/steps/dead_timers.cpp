#include "core/state/steps/apply_one_of.hpp"
#include "core/timers/state/timer_domain.hpp"

namespace routemaster::detail {

template <>
Result<RepostDeadTimers::Reply> TimerDomain::apply(RepostDeadTimers& step) {
    return timers_.repost(step, scope_.now);
}

template <>
Result<DropDeadTimers::Reply> TimerDomain::apply(DropDeadTimers& step) {
    return timers_.drop(step);
}

Outcome TimerDomain::perform(DeadTimerSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
