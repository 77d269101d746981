#include "core/jobs/state/recurring_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<PutRecurringJob::Reply> RecurringDomain::apply(PutRecurringJob& step) {
    if (recurring_.put(step, scope_.now)) wake_ups_.wake_schedulers();
    return Done{};
}

template <>
Result<FindRecurringJob::Reply> RecurringDomain::apply(FindRecurringJob& step) {
    const auto* state = recurring_.find(step.name);
    return state == nullptr ? FindRecurringJob::Reply{} : FindRecurringJob::Reply{state->job};
}

template <>
Result<ListRecurringJobs::Reply> RecurringDomain::apply(ListRecurringJobs& step) {
    return recurring_.list(step.page);
}

template <>
Result<RemoveRecurringJob::Reply> RecurringDomain::apply(RemoveRecurringJob& step) {
    auto* state = recurring_.find(step.name);
    if (state == nullptr) return Removal::unknown;
    recurring_.remove(*state);
    return Removal::removed;
}

template <>
Result<PauseRecurringJob::Reply> RecurringDomain::apply(PauseRecurringJob& step) {
    auto* state = recurring_.find(step.name);
    if (state == nullptr) return Count{0};
    if (recurring_.pause(*state, step.paused, scope_.now)) wake_ups_.wake_schedulers();
    return Count{1};
}

template <>
Result<DueRecurringJobs::Reply> RecurringDomain::apply(DueRecurringJobs& step) {
    return recurring_.due(step.limit, scope_.now);
}

template <>
Result<RunRecurringJob::Reply> RecurringDomain::apply(RunRecurringJob& step) {
    using Ran = RecurringRun::Outcome;
    auto* state = recurring_.fresh(step);
    if (state == nullptr) return RecurringRun{};
    RecurringRun run{Ran::moved};
    if (RecurringTable::wants_run(*state, step)) {
        if (step.post != nullptr) {
            const auto posted = timers_.post(*step.post);
            if (!posted) return posted.error();
            run.outcome = *posted == TimerPosted::kept ? Ran::kept : Ran::pushed;
        } else {
            const auto pushed = jobs_.push(*step.push);
            if (!pushed) return pushed.error();
            run = {*pushed == PushOutcome::pushed ? Ran::pushed : Ran::kept, pushed->id};
        }
        scope_.depends_on_row = StepScope::everything;
    }
    recurring_.settle(*state, step, run.outcome);
    return run;
}

Outcome RecurringDomain::perform(RecurringSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
