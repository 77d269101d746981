#include "core/state/steps/apply_one_of.hpp"
#include "core/timers/state/timer_domain.hpp"

#include "routemaster/timer_action.hpp"

namespace routemaster::detail {

// The namespace of actions is internal and does not count towards `timer_namespaces_max`. Likewise,
// internal queues do not count towards `queues_max`.

bool TimerDomain::adds_namespace(const std::string& name) const {
    return name != action_space && !timers_.has_space(name);
}

std::size_t TimerDomain::counted_namespaces() const {
    return timers_.spaces() - (timers_.has_space(std::string{action_space}) ? 1 : 0);
}

Result<void> TimerDomain::may_open(const std::string& name) const {
    if (!adds_namespace(name)) return {};
    if (counted_namespaces() < limits_.timer_namespaces_max) return {};
    return too_many_namespaces();
}

Error TimerDomain::too_many_namespaces() const {
    return {Errc::limit_exceeded,
            "namespace: there are " + std::to_string(limits_.timer_namespaces_max) +
                " namespaces of timers already, as many as timer_namespaces_max allows"};
}

template <>
Result<PostTimer::Reply> TimerDomain::apply(PostTimer& step) {
    return post(step);
}

Result<TimerPosted> TimerDomain::post(const PostTimer& step) {
    if (auto may = may_open(step.space); !may) return may.error();
    return timers_.post(step, scope_.now);
}

template <>
Result<CancelTimer::Reply> TimerDomain::apply(CancelTimer& step) {
    return timers_.cancel(step);
}

template <>
Result<PostponeTimer::Reply> TimerDomain::apply(PostponeTimer& step) {
    return timers_.postpone(step, scope_.now);
}

template <>
Result<FindTimer::Reply> TimerDomain::apply(FindTimer& step) {
    const auto* timer = timers_.find(step.space, step.id);
    if (timer == nullptr) return FindTimer::Reply{};
    scope_.depends_on_row = timer->last_row;
    return FindTimer::Reply{TimerTable::status_of(*timer)};
}

template <>
Result<ListTimers::Reply> TimerDomain::apply(ListTimers& step) {
    return timers_.list(step);
}

template <>
Result<CountTimers::Reply> TimerDomain::apply(CountTimers& step) {
    return timers_.count(step);
}

Outcome TimerDomain::perform(TimerSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
