#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"
#include "core/timers/state/steps/counted_namespaces.hpp"

namespace routemaster::detail {

Result<void> Machine::may_open_timers(const std::string& space) const {
    if (!adds_namespace(timers_, space)) return {};
    if (counted_namespaces(timers_) < limits_.timer_namespaces_max) return {};
    return too_many_timer_namespaces();
}

Error Machine::too_many_timer_namespaces() const {
    return {Errc::limit_exceeded,
            "namespace: there are " + std::to_string(limits_.timer_namespaces_max) +
                " namespaces of timers already, as many as timer_namespaces_max allows"};
}

template <>
Result<PostTimer::Reply> Machine::apply(PostTimer& step) {
    if (auto may = may_open_timers(step.space); !may) return may.error();
    return timers_.post(step, now_);
}

template <>
Result<CancelTimer::Reply> Machine::apply(CancelTimer& step) {
    return timers_.cancel(step);
}

template <>
Result<PostponeTimer::Reply> Machine::apply(PostponeTimer& step) {
    return timers_.postpone(step, now_);
}

template <>
Result<FindTimer::Reply> Machine::apply(FindTimer& step) {
    const auto* timer = timers_.find(step.space, step.id);
    if (timer == nullptr) return FindTimer::Reply{};
    depends_on_row_ = timer->last_row;
    return FindTimer::Reply{TimerTable::status_of(*timer)};
}

template <>
Result<ListTimers::Reply> Machine::apply(ListTimers& step) {
    return timers_.list(step);
}

template <>
Result<CountTimers::Reply> Machine::apply(CountTimers& step) {
    return timers_.count(step);
}

Outcome Machine::perform_in(TimerSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
