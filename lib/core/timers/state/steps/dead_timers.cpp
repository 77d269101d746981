#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<RepostDeadTimers::Reply> Machine::apply(RepostDeadTimers& step) {
    return timers_.repost(step, now_);
}

template <>
Result<DropDeadTimers::Reply> Machine::apply(DropDeadTimers& step) {
    return timers_.drop(step);
}

Outcome Machine::perform_in(DeadTimerSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
