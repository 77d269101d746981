#include "core/state/machine.hpp"

#include <utility>
#include <variant>

#include "core/store/step_check.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

Machine::Machine(Effects& effects)
    : effects_{effects},
      counters_{effects},
      jobs_{effects, counters_},
      outboxes_{effects, counters_, jobs_},
      directory_{effects, outboxes_} {}

Outcome Machine::perform(Step& step, TimePoint now) {
    now_ = now;
    reveals_ = everything;
    return std::visit(
        [this](auto& any) -> Outcome {
            if (auto checked = check_step(any); !checked) return checked.error();
            try {
                auto reply = apply(any);
                if (!reply) return reply.error();
                return Reply{std::move(*reply)};
            } catch (const Failure& failure) {
                // What was let go of memory cannot be read. Steps read before they change.
                return failure.error();
            }
        },
        step);
}

void Machine::settle_restored() {
    directory_.settle_restored(jobs_);
    outboxes_.settle_restored();
    jobs_.settle_restored();
    outboxes_.prune(
        [this](const std::string& token) { return directory_.subscriber(token) != nullptr; });
}

}  // namespace routemaster::detail
