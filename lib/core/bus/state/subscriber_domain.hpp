/// @file
/// `SubscriberDomain`: the subscribers of a bus, and the tokens of its clients.

#pragma once

#include <string>
#include <vector>

#include "core/bus/state/registry.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/state/entity.hpp"
#include "core/state/step_scope.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs the steps on subscribers (`SubscriberSteps`)
/// and on tokens of clients (`TokenSteps`). Not thread safe.
class SubscriberDomain {
public:
    SubscriberDomain(StepScope& scope, ChangeLog& changes, Registry& registry, JobTable& jobs)
        : scope_{scope}, changes_{changes}, registry_{registry}, jobs_{jobs} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(SubscriberSteps steps, Step& step);
    Outcome perform(TokenSteps steps, Step& step);

private:
    void replace_topics(SubscriberState& subscriber, const std::vector<std::string>& topics);
    /// Removes a subscriber. Workers later remove the subscriber's batches one at a time, even if
    /// its deliveries ran concurrently before.
    void remove(SubscriberState& subscriber);

    StepScope& scope_;
    ChangeLog& changes_;
    Registry& registry_;
    JobTable& jobs_;
};

}  // namespace routemaster::detail
