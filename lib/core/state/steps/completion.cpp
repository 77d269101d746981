#include "core/state/completion_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <class S>
Result<void> CompletionDomain::may_follow(const S& step) {
    if (auto may = topics_.may_publish_all(step.publications); !may) return may;
    if (auto may = jobs_.may_push_all(step.pushes); !may) return may;
    return timers_.may_post_all(step.timers);
}

template <class S, class Reply>
void CompletionDomain::follow_up(const S& step, EqualJobs& equal, Reply& reply) {
    reply.pushed = jobs_.push_all(step.pushes, equal);
    topics_.publish_all(step.publications);
    reply.posted = timers_.post_all(step.timers);
}

template <>
Result<CompleteJob::Reply> CompletionDomain::apply(CompleteJob& step) {
    auto* job = jobs_.leased(step.lease);
    if (job == nullptr) return Completed{Settlement::lease_lost, {}};
    if (auto may = jobs_.may_complete(*job); !may) return may.error();
    if (auto may = may_follow(step); !may) return may.error();
    auto equal = jobs_.equal_to(step.pushes, job);

    jobs_.complete(*job);
    Completed completed;
    follow_up(step, equal, completed);
    return completed;
}

template <>
Result<CompleteTimer::Reply> CompletionDomain::apply(CompleteTimer& step) {
    ConfirmTimer confirmation{step.space, step.id, step.retries, step.firing};
    if (!timers_.can_confirm(confirmation)) {
        return CompletedTimer{.confirmation = TimerConfirmed::unknown};
    }
    if (auto may = may_follow(step); !may) return may.error();
    auto equal = jobs_.equal_to(step.pushes, nullptr);

    timers_.confirm(confirmation);
    CompletedTimer completed;
    follow_up(step, equal, completed);
    return completed;
}

Outcome CompletionDomain::perform(CompletionSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
