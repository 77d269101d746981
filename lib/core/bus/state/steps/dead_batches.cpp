#include "core/bus/state/delivery_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/store/store_errors.hpp"

namespace routemaster::detail {

template <>
Result<ListDeadBatches::Reply> DeliveryDomain::apply(ListDeadBatches& step) {
    std::vector<DeadBatchStatus> all;
    const auto* subscriber_queue = subscriber_queues_.find(step.token);
    if (subscriber_queue == nullptr && step.after) return not_dead();
    if (subscriber_queue == nullptr) return all;
    const auto* batch = subscriber_queue->dead.front();
    if (step.after) {
        batch = dead(step.token, *step.after);
        if (batch == nullptr) return not_dead();
        batch = subscriber_queue->dead.next(*batch);
    }
    for (; batch != nullptr && all.size() < step.limit;
         batch = subscriber_queue->dead.next(*batch)) {
        all.push_back(status(*batch));
    }
    return all;
}

template <>
Result<FindDeadBatch::Reply> DeliveryDomain::apply(FindDeadBatch& step) {
    const auto* batch = dead(step.token, step.batch);
    if (batch == nullptr) return std::optional<DeadMessages>{};
    return std::optional<DeadMessages>{{status(*batch), batch->messages.resident()
                                                            ? batch->messages.list()
                                                            : changes_.read(*batch)}};
}

template <class Act>
void DeliveryDomain::each_dead(const std::string& token, const std::optional<Uid>& uid, Act act) {
    if (uid) {
        if (auto* batch = dead(token, *uid)) act(*batch);
        return;
    }
    const auto* subscriber_queue = subscriber_queues_.find(token);
    auto* next = subscriber_queue == nullptr ? nullptr : subscriber_queue->dead.front();
    for (std::uint32_t moved = 0; next != nullptr && moved < dead_moved_max; ++moved) {
        auto& batch = *next;
        next = subscriber_queue->dead.next(batch);
        act(batch);
    }
}

template <>
Result<RedeliverDeadBatches::Reply> DeliveryDomain::apply(RedeliverDeadBatches& step) {
    Count count;
    each_dead(step.token, step.batch, [&](BatchState& batch) {
        if (subscriber_queues_.redeliver(batch, scope_.now)) ++count.value;
    });
    return count;
}

template <>
Result<DropDeadBatches::Reply> DeliveryDomain::apply(DropDeadBatches& step) {
    Dropped dropped;
    each_dead(step.token, step.batch, [&](BatchState& batch) {
        ++dropped.batches;
        dropped.events += batch.messages.size();
        subscriber_queues_.drop_dead(batch);
    });
    return dropped;
}

BatchState* DeliveryDomain::dead(const std::string& token, const Uid& uid) const {
    auto* batch = subscriber_queues_.find(uid);
    const bool found = batch != nullptr && batch->death != nullptr && token_of(*batch) == token;
    return found ? batch : nullptr;
}

DeadBatchStatus DeliveryDomain::status(const BatchState& batch) {
    return {.uid = batch.uid,
            .subscriber = token_of(batch),
            .created_at = batch.created_at,
            .died_at = batch.death->at,
            .attempts = batch.attempts,
            .events = batch.messages.size(),
            .error = batch.death->error};
}

Outcome DeliveryDomain::perform(DeadBatchSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
