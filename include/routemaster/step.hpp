/// @file
/// Steps: the atomic operations of a store, as values.
///
/// A step can be batched with more steps, pipelined, recorded, forwarded, generated at random, and
/// compared between two stores. The comment of a step describes its effect, its reply, and what a
/// repetition does, which matters after a lost reply (`timed_out`). The rest is in its `traits` and
/// its `check`. All times are passed in.

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

/// All domains. Each header of steps lists its steps at its end; see docs/adding-a-step.md.
using StepDomains =
    detail::Domains<TopicSteps, SubscriberSteps, TokenSteps, JobSteps, JobListSteps, QueueSteps,
                    WorkerSteps, DeliverySteps, BatchSteps, DeadBatchSteps, CapacitySteps,
                    CounterSteps, RecurringSteps, TimerSteps, TimerFiringSteps, DeadTimerSteps,
                    CompletionSteps, JobBatchSteps, ThroughputSteps>;

/// The domain of a step: the list that contains the step.
template <StepKind S>
using DomainOf = typename detail::FindDomain<S, StepDomains>::type;

/// Any step: a variant of all step types.
///
/// Constructing, copying, moving or destroying a `Step` needs code for every step type. This code
/// is compiled once, in the core, instead of at every place where a step is passed on.
struct Step : detail::AllStepsOf<StepDomains>::Step {
    template <class S>
        requires(detail::AllStepsOf<StepDomains>::has_step<S>)
    Step(S step);

    Step(const Step& other);
    Step(Step&& other) noexcept;
    /// Replaces the step.
    Step& operator=(const Step& other);
    Step& operator=(Step&& other) noexcept;
    ~Step();
};

/// Any reply: a variant of all reply types. Compiled once, as `Step` is.
struct Reply : detail::AllStepsOf<StepDomains>::Reply {
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    Reply(R reply);

    Reply(const Reply& other);
    Reply(Reply&& other) noexcept;
    /// Replaces the reply.
    Reply& operator=(const Reply& other);
    Reply& operator=(Reply&& other) noexcept;
    ~Reply();

    /// The reply as type `R`. Throws `std::bad_variant_access` if the reply has another type.
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    [[nodiscard]] const R& as() const;
    /// The reply as type `R`. Throws `std::bad_variant_access` if the reply has another type.
    template <class R>
    [[nodiscard]] R& as() {
        return const_cast<R&>(std::as_const(*this).template as<R>());
    }
};

/// The traits of a step.
[[nodiscard]] inline const StepTraits& traits_of(const Step& step) {
    return detail::AllStepsOf<StepDomains>::traits[step.index()];
}

}  // namespace routemaster
