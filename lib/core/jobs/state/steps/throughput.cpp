#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<MeasureThroughput::Reply> Machine::apply(MeasureThroughput& step) {
    return jobs_.throughput().at(step.queue, now_);
}

Outcome Machine::perform_in(ThroughputSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
