#include "core/jobs/state/job_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<MeasureThroughput::Reply> JobDomain::apply(MeasureThroughput& step) {
    return jobs_.throughput().at(step.queue, scope_.now);
}

Outcome JobDomain::perform(ThroughputSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
