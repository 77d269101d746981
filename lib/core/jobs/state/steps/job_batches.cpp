#include "core/state/machine.hpp"

#include "core/state/steps/apply_one_of.hpp"

namespace routemaster::detail {

template <>
Result<CreateJobBatch::Reply> Machine::apply(CreateJobBatch& step) {
    return jobs_.batches().create(*step.settings, now_);
}

template <>
Result<CloseJobBatch::Reply> Machine::apply(CloseJobBatch& step) {
    auto* state = jobs_.batches().find(step.id);
    if (state == nullptr) return JobBatchClosure::unknown;
    jobs_.batches().close(*state, now_);
    return JobBatchClosure::closed;
}

template <>
Result<FindJobBatch::Reply> Machine::apply(FindJobBatch& step) {
    const auto* state = jobs_.batches().find(step.id);
    return state == nullptr ? FindJobBatch::Reply{} : JobBatchTable::shown(*state);
}

template <>
Result<ListJobBatches::Reply> Machine::apply(ListJobBatches& step) {
    return jobs_.batches().list(step);
}

template <>
Result<RemoveJobBatch::Reply> Machine::apply(RemoveJobBatch& step) {
    auto* state = jobs_.batches().find(step.id);
    if (state == nullptr) return Removal::unknown;
    jobs_.batches().remove(*state);
    return Removal::removed;
}

Outcome Machine::perform_in(JobBatchSteps steps, Step& step) { return apply_one_of(steps, step); }

}  // namespace routemaster::detail
