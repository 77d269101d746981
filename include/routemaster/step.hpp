/// @file
/// Steps: the atomic things that can be done to a store, as values.
///
/// A step can be batched with others, pipelined, recorded, forwarded, generated at random and
/// compared between two stores. Each says what it does, what its reply means, and what repeating
/// it does, which matters when a reply was lost (`timed_out`); what else it says is in its `traits`
/// and its `check`. All times come from outside.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/detail/step_domains.hpp"
#include "routemaster/outcome.hpp"
#include "routemaster/step/batches.hpp"
#include "routemaster/step/capacity.hpp"
#include "routemaster/step/completion.hpp"
#include "routemaster/step/counters.hpp"
#include "routemaster/step/dead_batches.hpp"
#include "routemaster/step/dead_timers.hpp"
#include "routemaster/step/deliveries.hpp"
#include "routemaster/step/job_batches.hpp"
#include "routemaster/step/job_lists.hpp"
#include "routemaster/step/jobs.hpp"
#include "routemaster/step/queues.hpp"
#include "routemaster/step/recurring.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/step/subscribers.hpp"
#include "routemaster/step/throughput.hpp"
#include "routemaster/step/timer_firings.hpp"
#include "routemaster/step/timers.hpp"
#include "routemaster/step/tokens.hpp"
#include "routemaster/step/topics.hpp"
#include "routemaster/step/traits.hpp"
#include "routemaster/step/workers.hpp"

namespace routemaster {

/// All domains. A step is listed at the end of its own header; see docs/adding-a-step.md.
using StepDomains =
    detail::Domains<TopicSteps, SubscriberSteps, TokenSteps, JobSteps, JobListSteps, QueueSteps,
                    WorkerSteps, DeliverySteps, BatchSteps, DeadBatchSteps, CapacitySteps,
                    CounterSteps, RecurringSteps, TimerSteps, TimerFiringSteps, DeadTimerSteps,
                    CompletionSteps, JobBatchSteps, ThroughputSteps>;

/// The domain of a step: the list it is in.
template <StepKind S>
using DomainOf = typename detail::FindDomain<S, StepDomains>::type;

/// Any step: a variant of all of them.
///
/// To make, copy, move or destroy one is code for every step. It is compiled once, in the core, and
/// not wherever a step is passed on.
struct Step : detail::AllStepsOf<StepDomains>::Step {
    template <class S>
        requires(detail::AllStepsOf<StepDomains>::has_step<S>)
    Step(S step);

    Step(const Step& other);
    Step(Step&& other) noexcept;
    /// Replaces it.
    Step& operator=(const Step& other);
    Step& operator=(Step&& other) noexcept;
    ~Step();
};

/// Any reply: a variant of all of them. Compiled once, as steps are.
struct Reply : detail::AllStepsOf<StepDomains>::Reply {
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    Reply(R reply);

    Reply(const Reply& other);
    Reply(Reply&& other) noexcept;
    /// Replaces it.
    Reply& operator=(const Reply& other);
    Reply& operator=(Reply&& other) noexcept;
    ~Reply();

    /// The reply, which must be of this type; else `std::bad_variant_access` is thrown.
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    [[nodiscard]] const R& as() const;
    /// The same.
    template <class R>
    [[nodiscard]] R& as() {
        return const_cast<R&>(std::as_const(*this).template as<R>());
    }
};

/// What a step says of itself.
[[nodiscard]] inline const StepTraits& traits_of(const Step& step) {
    return detail::AllStepsOf<StepDomains>::traits[step.index()];
}

}  // namespace routemaster
