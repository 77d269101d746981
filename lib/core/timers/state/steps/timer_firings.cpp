#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

/// A reply without timers reveals no state that would have to be durable first.
template <>
Result<TakeTimers::Reply> Machine::apply(TakeTimers& step) {
    depends_on_row_ = 0;
    return timers_.take(step, now_);
}

template <>
Result<ConfirmTimer::Reply> Machine::apply(ConfirmTimer& step) {
    return timers_.confirm(step);
}

template <>
Result<GiveUpTimer::Reply> Machine::apply(GiveUpTimer& step) {
    return timers_.give_up(step, now_);
}

template <>
Result<LeaveTimers::Reply> Machine::apply(LeaveTimers& step) {
    depends_on_row_ = 0;
    timers_.leave(step, now_);
    return Done{};
}

Outcome Machine::perform_in(TimerFiringSteps steps, Step& step) {
    return apply_one_of(steps, step);
}

}  // namespace routemaster::detail
