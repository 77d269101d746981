#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<PutRecurringJob::Reply> Machine::apply(PutRecurringJob& step) {
    if (recurring_.put(step, now_)) jobs_.wake_schedulers();
    return Done{};
}

template <>
Result<FindRecurringJob::Reply> Machine::apply(FindRecurringJob& step) {
    const auto* state = recurring_.find(step.name);
    return state == nullptr ? FindRecurringJob::Reply{} : FindRecurringJob::Reply{state->job};
}

template <>
Result<ListRecurringJobs::Reply> Machine::apply(ListRecurringJobs& step) {
    return recurring_.list(step.page);
}

template <>
Result<RemoveRecurringJob::Reply> Machine::apply(RemoveRecurringJob& step) {
    auto* state = recurring_.find(step.name);
    if (state == nullptr) return Removal::unknown;
    recurring_.remove(*state);
    return Removal::removed;
}

template <>
Result<PauseRecurringJob::Reply> Machine::apply(PauseRecurringJob& step) {
    auto* state = recurring_.find(step.name);
    if (state == nullptr) return Count{0};
    if (recurring_.pause(*state, step.paused, now_)) jobs_.wake_schedulers();
    return Count{1};
}

template <>
Result<DueRecurringJobs::Reply> Machine::apply(DueRecurringJobs& step) {
    return recurring_.due(step.limit, now_);
}

template <>
Result<RunRecurringJob::Reply> Machine::apply(RunRecurringJob& step) {
    using Ran = RecurringRun::Outcome;
    auto* state = recurring_.fresh(step);
    if (state == nullptr) return RecurringRun{};
    RecurringRun run{Ran::moved};
    if (RecurringTable::wants_run(*state, step)) {
        if (step.post != nullptr) {
            if (auto may = may_open_timers(step.post->space); !may) return may.error();
            const bool kept = timers_.post(*step.post, now_) == TimerPosted::kept;
            run.outcome = kept ? Ran::kept : Ran::pushed;
        } else {
            auto push = *step.push;
            const auto pushed = apply(push);
            if (!pushed) return pushed.error();
            run = {*pushed == PushOutcome::pushed ? Ran::pushed : Ran::kept, pushed->id};
        }
        depends_on_row_ = everything;
    }
    recurring_.settle(*state, step, run.outcome);
    return run;
}

Outcome Machine::perform_in(RecurringSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
