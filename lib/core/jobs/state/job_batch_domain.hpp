/// @file
/// `JobBatchDomain`: the batches of jobs.

#pragma once

#include "core/jobs/state/job_batches.hpp"
#include "core/state/step_scope.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs `JobBatchSteps`. Not thread safe.
class JobBatchDomain {
public:
    JobBatchDomain(StepScope& scope, JobBatchTable& batches) : scope_{scope}, batches_{batches} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(JobBatchSteps steps, Step& step);

private:
    StepScope& scope_;
    JobBatchTable& batches_;
};

}  // namespace routemaster::detail
