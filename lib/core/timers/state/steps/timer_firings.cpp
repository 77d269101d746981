#include "core/state/steps/apply_one_of.hpp"
#include "core/timers/state/timer_domain.hpp"

namespace routemaster::detail {

/// A reply without timers reveals no state, so it does not wait until state is durable.
template <>
Result<TakeTimers::Reply> TimerDomain::apply(TakeTimers& step) {
    scope_.depends_on_row = 0;
    return timers_.take(step, scope_.now);
}

template <>
Result<ConfirmTimer::Reply> TimerDomain::apply(ConfirmTimer& step) {
    return timers_.confirm(step);
}

template <>
Result<GiveUpTimer::Reply> TimerDomain::apply(GiveUpTimer& step) {
    return timers_.give_up(step, scope_.now);
}

template <>
Result<LeaveTimers::Reply> TimerDomain::apply(LeaveTimers& step) {
    scope_.depends_on_row = 0;
    timers_.leave(step, scope_.now);
    return Done{};
}

Outcome TimerDomain::perform(TimerFiringSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
