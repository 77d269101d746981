/// @file
/// `CompletionDomain`: the completion of jobs and timers together with their follow-ups, which are
/// jobs, events and timers to be added in the same step.

#pragma once

#include "core/bus/state/topic_domain.hpp"
#include "core/jobs/state/job_domain.hpp"
#include "core/state/step_scope.hpp"
#include "core/timers/state/timer_domain.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs `CompletionSteps`. Such a step completes a
/// job or confirms a timer, and adds the follow-ups. If a follow-up may not be added, the step
/// changes nothing. Not thread safe.
class CompletionDomain {
public:
    CompletionDomain(JobDomain& jobs, TimerDomain& timers, TopicDomain& topics)
        : jobs_{jobs}, timers_{timers}, topics_{topics} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(CompletionSteps steps, Step& step);

private:
    /// An error when one of the follow-ups may not be added. `S` is `CompleteJob` or
    /// `CompleteTimer`.
    template <class S>
    [[nodiscard]] Result<void> may_follow(const S& step);
    /// Adds follow-ups that passed `may_follow`, and fills in `reply`.
    template <class S, class Reply>
    void follow_up(const S& step, EqualJobs& equal, Reply& reply);

    JobDomain& jobs_;
    TimerDomain& timers_;
    TopicDomain& topics_;
};

}  // namespace routemaster::detail
