#include "core/bus/state/topic_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/store/published_tags.hpp"
#include "core/store/store_errors.hpp"
#include "routemaster/batch.hpp"

namespace routemaster::detail {

template <>
Result<PublishEvent::Reply> TopicDomain::apply(PublishEvent& step) {
    auto* topic = registry_.topic(step.topic);
    if (auto may = may_publish(step, owner_of(topic)); !may) return may.error();
    publish(step, topic);
    return Done{};
}

const std::string* TopicDomain::owner_of(const TopicState* topic) {
    return topic != nullptr && topic->topic.publisher ? &*topic->topic.publisher : nullptr;
}

Result<void> TopicDomain::may_publish(const PublishEvent& step, const std::string* owner,
                                      std::uint32_t further) {
    if (step.authenticate && !is_valid_token(step.publisher)) return unknown_publisher();
    if (step.subscriber) {
        if (registry_.subscriber(*step.subscriber) != nullptr) return {};
        return unknown_subscriber();
    }
    if (owner != nullptr && step.publisher != *owner) return topic_claimed();
    if (owner == nullptr && step.publisher &&
        registry_.claims(*step.publisher) + further >= step.topics_max) {
        return too_many_topics();
    }
    return {};
}

void TopicDomain::publish(const PublishEvent& step, TopicState* topic) {
    if (step.subscriber) return fan_out({registry_.subscriber(*step.subscriber)}, step);
    if (topic == nullptr) {
        topic = &registry_.create_topic(step.topic, step.publisher);
    } else if (!topic->topic.publisher && step.publisher) {
        registry_.claim(*topic, *step.publisher);
    }
    count_published(*topic, step.message.size());
    if (!topic->subscribers.empty()) fan_out(topic->subscribers, step);
}

bool TopicDomain::is_valid_token(const std::optional<std::string>& token) {
    return token && registry_.token(*token) != nullptr;
}

void TopicDomain::fan_out(const std::vector<SubscriberState*>& subscribers,
                          const PublishEvent& step) {
    std::vector<BatchState*> batches;
    batches.reserve(subscribers.size());
    std::uint32_t sibling = 0;
    for (const auto* subscriber : subscribers) {
        auto& subscriber_queue = *subscriber->subscriber_queue;
        if (subscriber_queue.current != nullptr && subscriber_queue.current->closed) {
            subscriber_queues_.seal(*subscriber_queue.current);
        }
        if (subscriber_queue.current == nullptr) {
            auto uid = step.uid.sibling(sibling++);
            while (subscriber_queues_.taken(uid)) uid = step.uid.sibling(sibling++);
            const auto due = saturating_add(std::min(step.timestamp, scope_.now),
                                            subscriber->subscription.timeout);
            subscriber_queues_.begin(subscriber_queue, uid, due, scope_.now);
        }
        subscriber_queues_.append(*subscriber_queue.current, step.message);
        batches.push_back(subscriber_queue.current);
    }
    changes_.appended(step.message, batches);
    for (std::size_t i = 0; i < batches.size(); ++i) {
        const auto& messages = batches[i]->messages;
        const bool is_full = messages.size() >= subscribers[i]->subscription.max_events ||
                             messages.payload_bytes() >= batch_bytes_max;
        if (is_full) seal_full(*batches[i]);
    }
}

void TopicDomain::seal_full(BatchState& batch) {
    subscriber_queues_.seal(batch);
    if (batch.job->state == JobState::State::scheduled) {
        jobs_.reschedule(*batch.job, scope_.now, scope_.now);
    }
}

void TopicDomain::count_published(TopicState& topic, std::size_t bytes) {
    if (topic.published == nullptr) {
        const auto tags = published_tags(topic.topic.name, topic.topic.publisher);
        topic.published = &counters_.at({"events.published", tags});
        topic.bytes = &counters_.at({"events.bytes", tags});
    }
    counters_.add(*topic.published, 1);
    counters_.add(*topic.bytes, static_cast<std::int64_t>(bytes));
    ++topic.topic.events;
    changes_.counted(topic);
}

template <>
Result<RemoveTopic::Reply> TopicDomain::apply(RemoveTopic& step) {
    auto* topic = registry_.topic(step.name);
    if (topic == nullptr) return Removal::unknown;
    if (step.publisher && topic->topic.publisher != step.publisher) return topic_claimed();
    registry_.remove(*topic);
    return Removal::removed;
}

template <>
Result<ListTopics::Reply> TopicDomain::apply(ListTopics& step) {
    return registry_.topics(step.page);
}

Outcome TopicDomain::perform(TopicSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
