/// @file
/// `CompletionDomain`: the ends of jobs and timers with follow-ups.

#pragma once

#include "core/bus/state/topic_domain.hpp"
#include "core/jobs/state/job_domain.hpp"
#include "core/state/step_scope.hpp"
#include "core/timers/state/timer_domain.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Performs `CompletionSteps`: ends a job or confirms a timer, and adds its follow-ups, which are
/// jobs, events and timers. Adds all follow-ups or none. Not thread safe.
class CompletionDomain {
public:
    CompletionDomain(JobDomain& jobs, TimerDomain& timers, TopicDomain& topics)
        : jobs_{jobs}, timers_{timers}, topics_{topics} {}

    /// The effect of a step: the specialisations are in steps/. A step without a specialisation
    /// does not compile.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(CompletionSteps steps, Step& step);

private:
    /// An error when a follow-up may not be added. `S` has the follow-ups of a completion.
    template <class S>
    [[nodiscard]] Result<void> may_follow(const S& step);
    /// Adds the follow-ups after `may_follow`.
    template <class S, class Reply>
    void follow_up(const S& step, EqualJobs& equal, Reply& reply);

    JobDomain& jobs_;
    TimerDomain& timers_;
    TopicDomain& topics_;
};

}  // namespace routemaster::detail
