/// @file
/// `RecurringDomain`: recurring jobs and timers, and their ticks.

#pragma once

#include "core/jobs/state/job_domain.hpp"
#include "core/jobs/state/recurring.hpp"
#include "core/state/step_scope.hpp"
#include "core/state/wake_ups.hpp"
#include "core/timers/state/timer_domain.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs `RecurringSteps`. A tick pushes a job or
/// posts a timer through the domain of jobs or of timers. Not thread safe.
class RecurringDomain {
public:
    RecurringDomain(StepScope& scope, RecurringTable& recurring, JobDomain& jobs,
                    TimerDomain& timers, WakeUps& wake_ups)
        : scope_{scope}, recurring_{recurring}, jobs_{jobs}, timers_{timers}, wake_ups_{wake_ups} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(RecurringSteps steps, Step& step);

private:
    StepScope& scope_;
    RecurringTable& recurring_;
    JobDomain& jobs_;
    TimerDomain& timers_;
    WakeUps& wake_ups_;
};

}  // namespace routemaster::detail
