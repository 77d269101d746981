#include "core/state/machine.hpp"

#include <type_traits>
#include <variant>

#include "routemaster/error.hpp"

namespace routemaster::detail {

Machine::Machine(ChangeLog& changes, NameLimits limits)
    : changes_{changes},
      limits_{limits},
      counters_{changes},
      jobs_{changes, counters_},
      subscriber_queues_{changes, counters_, jobs_},
      registry_{changes, subscriber_queues_},
      recurring_{changes},
      timers_{changes, counters_, jobs_.wake_ups()} {}

Outcome Machine::perform(Step& step, TimePoint now) {
    now_ = now;
    jobs_.set_now(now);
    depends_on_row_ = everything;
    hurried_ = true;
    auto outcome = std::visit(
        [&](auto& any) -> Outcome {
            if (auto checked = any.check(); !checked) return checked.error();
            try {
                return perform_in(DomainOf<std::remove_reference_t<decltype(any)>>{}, step);
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
