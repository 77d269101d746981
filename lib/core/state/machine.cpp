#include "core/state/machine.hpp"

#include <string>
#include <type_traits>
#include <variant>

#include "routemaster/error.hpp"

namespace routemaster::detail {

namespace {

/// Passes a step to the first domain that can perform the steps in the list `Steps`. A list that no
/// domain can perform does not compile.
template <class Steps, class Domain, class... Rest>
Outcome perform_in(Steps steps, Step& step, Domain& domain, Rest&... rest) {
    if constexpr (requires { domain.perform(steps, step); }) {
        return domain.perform(steps, step);
    } else {
        return perform_in(steps, step, rest...);
    }
}

}  // namespace

Machine::Machine(ChangeLog& changes, NameLimits limits)
    : counters_{changes},
      jobs_{changes, counters_},
      subscriber_queues_{changes, counters_, jobs_},
      registry_{changes, subscriber_queues_},
      recurring_{changes},
      timers_{changes, counters_, jobs_.wake_ups()},
      topic_domain_{scope_, changes, counters_, registry_, subscriber_queues_, jobs_},
      subscriber_domain_{scope_, changes, registry_, jobs_},
      delivery_domain_{scope_, changes, registry_, subscriber_queues_, jobs_},
      job_domain_{scope_, jobs_, subscriber_queues_, limits},
      job_batch_domain_{scope_, jobs_.batches()},
      timer_domain_{scope_, timers_, limits},
      recurring_domain_{scope_, recurring_, job_domain_, timer_domain_, jobs_.wake_ups()},
      completion_domain_{job_domain_, timer_domain_, topic_domain_},
      counter_domain_{counters_} {}

Outcome Machine::perform(Step& step, TimePoint now) {
    scope_ = {.now = now};
    jobs_.set_now(now);
    auto outcome = std::visit(
        [&](auto& any) -> Outcome {
            if (auto checked = any.check(); !checked) return checked.error();
            try {
                const DomainOf<std::remove_reference_t<decltype(any)>> steps;
                return perform_in(steps, step, topic_domain_, subscriber_domain_, delivery_domain_,
                                  job_domain_, job_batch_domain_, timer_domain_, recurring_domain_,
                                  completion_domain_, counter_domain_);
            } catch (const Failure& failure) {
                // An evicted payload could not be read from the journal. Nothing has changed,
                // because each step reads before it changes anything.
                return failure.error();
            }
        },
        step);
    jobs_.settle_batches(now);
    return outcome;
}

void Machine::fetch_ahead(std::span<const Step> steps) const noexcept {
    jobs_.fetch_ahead(steps);
    timers_.fetch_ahead(steps);
}

void Machine::settle_restored() {
    registry_.settle_restored(jobs_);
    subscriber_queues_.settle_restored();
    mark_restored();
    jobs_.settle_restored();
    recurring_.settle_restored();
    timers_.settle_restored();
    subscriber_queues_.prune(
        [this](const std::string& token) { return registry_.subscriber(token) != nullptr; });
}

}  // namespace routemaster::detail
