#include "core/jobs/state/job_batch_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<CreateJobBatch::Reply> JobBatchDomain::apply(CreateJobBatch& step) {
    return batches_.create(*step.settings, scope_.now);
}

template <>
Result<CloseJobBatch::Reply> JobBatchDomain::apply(CloseJobBatch& step) {
    auto* state = batches_.find(step.id);
    if (state == nullptr) return JobBatchClosure::unknown;
    batches_.close(*state, scope_.now);
    return JobBatchClosure::closed;
}

template <>
Result<FindJobBatch::Reply> JobBatchDomain::apply(FindJobBatch& step) {
    const auto* state = batches_.find(step.id);
    return state == nullptr ? FindJobBatch::Reply{} : JobBatchTable::shown(*state);
}

template <>
Result<ListJobBatches::Reply> JobBatchDomain::apply(ListJobBatches& step) {
    return batches_.list(step);
}

template <>
Result<RemoveJobBatch::Reply> JobBatchDomain::apply(RemoveJobBatch& step) {
    auto* state = batches_.find(step.id);
    if (state == nullptr) return Removal::unknown;
    batches_.remove(*state);
    return Removal::removed;
}

Outcome JobBatchDomain::perform(JobBatchSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
