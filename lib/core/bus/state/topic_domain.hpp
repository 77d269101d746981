/// @file
/// `TopicDomain`: publications, and the topics of a bus.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/bus/state/registry.hpp"
#include "core/bus/state/subscriber_queues.hpp"
#include "core/jobs/state/job_table.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/step_scope.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/outcome.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::detail {

/// Part of the state machine (`Machine`) that performs `TopicSteps`. Other domains use it to
/// publish the events that a completed job or timer adds (its follow-ups). Not thread safe.
class TopicDomain {
public:
    TopicDomain(StepScope& scope, ChangeLog& changes, CounterTable& counters, Registry& registry,
                SubscriberQueueTable& subscriber_queues, JobTable& jobs)
        : scope_{scope},
          changes_{changes},
          counters_{counters},
          registry_{registry},
          subscriber_queues_{subscriber_queues},
          jobs_{jobs} {}

    /// Performs a step. The specialisations are in steps/.
    template <class S>
    Result<typename S::Reply> apply(S& step) = delete;

    Outcome perform(TopicSteps steps, Step& step);

    /// An error when one of the events may not be published, in this order.
    [[nodiscard]] Result<void> may_publish_all(const std::vector<PublishEvent>& publications);
    /// Publishes events that passed `may_publish_all`.
    void publish_all(const std::vector<PublishEvent>& publications);

private:
    [[nodiscard]] bool is_valid_token(const std::optional<std::string>& token);
    [[nodiscard]] static const std::string* owner_of(const TopicState* topic);
    /// An error when an event may not be published in a topic with this owner. `further` is the
    /// number of topics that earlier events of the same step will claim for the publisher.
    [[nodiscard]] Result<void> may_publish(const PublishEvent& step, const std::string* owner,
                                           std::uint32_t further = 0);
    /// Publishes an event that passed `may_publish`. `topic` is null if the topic does not exist
    /// yet.
    void publish(const PublishEvent& step, TopicState* topic);
    void fan_out(const std::vector<SubscriberState*>& subscribers, const PublishEvent& step);
    void seal_full(BatchState& batch);
    void count_published(TopicState& topic, std::size_t bytes);

    StepScope& scope_;
    ChangeLog& changes_;
    CounterTable& counters_;
    Registry& registry_;
    SubscriberQueueTable& subscriber_queues_;
    JobTable& jobs_;
};

}  // namespace routemaster::detail
