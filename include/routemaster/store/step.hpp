/// @file
/// Steps: the atomic operations of a store, as values.
///
/// A step can be batched with others, pipelined, recorded, forwarded, generated at random, and
/// performed on two stores for comparison. The comment of a step documents its effect, its reply,
/// and the effect of a repetition, which matters after a lost reply (`timed_out`). Its `traits` and
/// its `check` document the rest. All times are arguments.

#pragma once

#include <utility>
#include <variant>

#include "routemaster/detail/step_domains.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step/batches.hpp"
#include "routemaster/store/step/capacity.hpp"
#include "routemaster/store/step/completion.hpp"
#include "routemaster/store/step/counters.hpp"
#include "routemaster/store/step/dead_batches.hpp"
#include "routemaster/store/step/dead_timers.hpp"
#include "routemaster/store/step/deliveries.hpp"
#include "routemaster/store/step/job_batches.hpp"
#include "routemaster/store/step/job_lists.hpp"
#include "routemaster/store/step/jobs.hpp"
#include "routemaster/store/step/queues.hpp"
#include "routemaster/store/step/recurring.hpp"
#include "routemaster/store/step/reply.hpp"
#include "routemaster/store/step/subscribers.hpp"
#include "routemaster/store/step/throughput.hpp"
#include "routemaster/store/step/timer_firings.hpp"
#include "routemaster/store/step/timers.hpp"
#include "routemaster/store/step/tokens.hpp"
#include "routemaster/store/step/topics.hpp"
#include "routemaster/store/step/traits.hpp"
#include "routemaster/store/step/workers.hpp"

namespace routemaster {

/// All domains of steps. Each steps header lists its steps at its end; see docs/adding-a-step.md.
using StepDomains =
    detail::Domains<TopicSteps, SubscriberSteps, TokenSteps, JobSteps, JobListSteps, QueueSteps,
                    WorkerSteps, DeliverySteps, BatchSteps, DeadBatchSteps, CapacitySteps,
                    CounterSteps, RecurringSteps, TimerSteps, TimerFiringSteps, DeadTimerSteps,
                    CompletionSteps, JobBatchSteps, ThroughputSteps>;

/// The domain of a step: the list of steps that contains it.
template <StepKind S>
using DomainOf = typename detail::FindDomain<S, StepDomains>::type;

/// Any step: a variant of all step types.
///
/// Constructing, copying, moving or destroying a `Step` needs code for every step type. This code
/// is compiled once, in the core, and not in each caller.
struct Step : detail::AllStepsOf<StepDomains>::Step {
    template <class S>
        requires(detail::AllStepsOf<StepDomains>::has_step<S>)
    Step(S step);

    Step(const Step& other);
    Step(Step&& other) noexcept;
    /// Assigns another step.
    Step& operator=(const Step& other);
    Step& operator=(Step&& other) noexcept;
    ~Step();
};

/// Any reply: a variant of all reply types. Compiled once, as for `Step`.
struct Reply : detail::AllStepsOf<StepDomains>::Reply {
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    Reply(R reply);

    Reply(const Reply& other);
    Reply(Reply&& other) noexcept;
    /// Assigns another reply.
    Reply& operator=(const Reply& other);
    Reply& operator=(Reply&& other) noexcept;
    ~Reply();

    /// Returns the reply as type `R`. Throws `std::bad_variant_access` if its type is different.
    template <class R>
        requires(detail::AllStepsOf<StepDomains>::has_reply<R>)
    [[nodiscard]] const R& as() const;
    /// Returns the reply as type `R`. Throws `std::bad_variant_access` if its type is different.
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
