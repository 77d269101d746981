#include "core/state/machine.hpp"

#include <type_traits>
#include <variant>

#include "core/store/delivery_job.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

Machine::Machine(ChangeLog& changes)
    : changes_{changes},
      counters_{changes},
      jobs_{changes, counters_},
      subscriber_queues_{changes, counters_, jobs_},
      registry_{changes, subscriber_queues_} {}

Outcome Machine::perform(Step& step, TimePoint now) {
    now_ = now;
    depends_on_row_ = everything;
    hurried_ = true;
    return std::visit(
        [&](auto& any) -> Outcome {
            if (auto checked = any.check(); !checked) return checked.error();
            try {
                return perform_in(DomainOf<std::remove_reference_t<decltype(any)>>{}, step);
            } catch (const Failure& failure) {
                // An evicted payload cannot be read. Steps read before they change.
                return failure.error();
            }
        },
        step);
}

void Machine::seal_due(TimePoint now) { subscriber_queues_.seal_due(now); }

std::vector<Uid> Machine::begun(const std::vector<Lease>& leases) const {
    std::vector<Uid> begun;
    for (const auto& lease : leases) {
        const auto uid = lease.queue == delivery_queue ? batch_of(lease.job) : std::nullopt;
        const auto* batch = uid ? subscriber_queues_.find(*uid) : nullptr;
        if (batch != nullptr && !batch->current) begun.push_back(*uid);
    }
    return begun;
}

void Machine::seal(const std::vector<Uid>& begun) {
    for (const auto& uid : begun) {
        auto* batch = subscriber_queues_.find(uid);
        if (batch != nullptr && batch->current) subscriber_queues_.seal(*batch);
    }
}

void Machine::settle_restored() {
    registry_.settle_restored(jobs_);
    subscriber_queues_.settle_restored();
    jobs_.settle_restored();
    subscriber_queues_.prune(
        [this](const std::string& token) { return registry_.subscriber(token) != nullptr; });
}

}  // namespace routemaster::detail
