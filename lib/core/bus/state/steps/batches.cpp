#include "core/bus/state/delivery_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <optional>
#include <string>
#include <vector>

#include "core/store/store_errors.hpp"

namespace routemaster::detail {

template <>
Result<ListBatches::Reply> DeliveryDomain::apply(ListBatches& step) {
    std::vector<QueuedBatch> all;
    const BatchState* batch = nullptr;
    const auto* subscriber_queue = subscriber_queues_.find(step.token);
    if (step.after) {
        batch = queued(step.token, *step.after);
        if (batch == nullptr) return not_queued();
        batch = subscriber_queue->batches.next(*batch);
    } else if (subscriber_queue != nullptr) {
        batch = subscriber_queue->batches.front();
    }
    for (; batch != nullptr && all.size() < step.limit;
         batch = subscriber_queue->batches.next(*batch)) {
        all.push_back(queued_status(*batch));
    }
    return all;
}

template <>
Result<FindBatch::Reply> DeliveryDomain::apply(FindBatch& step) {
    const auto* batch = queued(step.token, step.batch);
    if (batch == nullptr) return std::optional<QueuedBatch>{};
    return std::optional{queued_status(*batch)};
}

template <>
Result<DeliverBatch::Reply> DeliveryDomain::apply(DeliverBatch& step) {
    const auto* batch = queued(step.token, step.batch);
    if (batch == nullptr) return BatchAction::unknown;
    auto& job = *batch->job;
    if (job.state == JobState::State::pending) return BatchAction::under_way;
    if (job.state == JobState::State::scheduled && job.run_at > scope_.now) {
        jobs_.reschedule(job, scope_.now, scope_.now);
    }
    return BatchAction::done;
}

template <>
Result<DropBatch::Reply> DeliveryDomain::apply(DropBatch& step) {
    auto* batch = queued(step.token, step.batch);
    if (batch == nullptr) return BatchAction::unknown;
    if (batch->job->state == JobState::State::pending) return BatchAction::under_way;
    subscriber_queues_.drop(*batch, SubscriberQueueCounter::dropped,
                            registry_.subscriber(step.token) != nullptr);
    return BatchAction::done;
}

BatchState* DeliveryDomain::queued(const std::string& token, const Uid& uid) const {
    auto* batch = subscriber_queues_.find(uid);
    const bool found = batch != nullptr && batch->death == nullptr && token_of(*batch) == token;
    return found ? batch : nullptr;
}

QueuedBatch DeliveryDomain::queued_status(const BatchState& batch) const {
    QueuedBatch found{.status = {.uid = batch.uid,
                                 .subscriber = token_of(batch),
                                 .created_at = batch.created_at,
                                 .attempts = batch.attempts,
                                 .events = batch.messages.size(),
                                 .current = batch.current}};
    const auto& job = *batch.job;
    if (job.state == JobState::State::pending) {
        found.delivery = JobStatus::State::pending;
    } else if (job.state == JobState::State::scheduled && job.run_at > scope_.now) {
        found.delivery = JobStatus::State::scheduled;
        found.run_at = job.run_at;
    }
    if (batch.last_error != nullptr) found.error = *batch.last_error;
    return found;
}

Outcome DeliveryDomain::perform(BatchSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
