#include "core/bus/state/subscriber_domain.hpp"
#include "core/state/steps/apply_one_of.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/store/delivery_job.hpp"

namespace routemaster::detail {

template <>
Result<Subscribe::Reply> SubscriberDomain::apply(Subscribe& step) {
    auto& subscriber = registry_.open_subscriber(step.token);
    auto& subscription = subscriber.subscription;
    subscription.callback = step.options.callback;
    subscription.uuid = step.options.uuid;
    if (step.options.timeout) subscription.timeout = *step.options.timeout;
    if (step.options.max_events) subscription.max_events = *step.options.max_events;
    if (step.options.max_in_flight) subscription.max_in_flight = *step.options.max_in_flight;
    if (step.options.attempts_max) subscription.attempts_max = *step.options.attempts_max;
    if (step.options.age_max) subscription.age_max = *step.options.age_max;
    if (step.options.dead_max) subscription.dead_max = *step.options.dead_max;
    jobs_.groups().set_concurrency(subscriber.subscriber_queue->group, subscription.max_in_flight);
    jobs_.destinations().direct(subscriber.subscriber_queue->group,
                                destination_of(subscription.callback));
    replace_topics(subscriber, step.topics);
    changes_.changed(subscriber);
    return Done{};
}

void SubscriberDomain::replace_topics(SubscriberState& subscriber,
                                      const std::vector<std::string>& topics) {
    const std::set<std::string> wanted{topics.begin(), topics.end()};
    for (const auto& name : std::set<std::string>{subscriber.topics}) {
        if (!wanted.contains(name)) registry_.unlink(subscriber, name);
    }
    for (const auto& name : wanted) {
        auto* topic = registry_.topic(name);
        if (topic == nullptr) topic = &registry_.create_topic(name, std::nullopt);
        registry_.link(subscriber, *topic);
    }
}

template <>
Result<Unsubscribe::Reply> SubscriberDomain::apply(Unsubscribe& step) {
    auto* subscriber = registry_.subscriber(step.token);
    if (subscriber == nullptr) return Unsubscription::unknown_subscriber;
    if (registry_.topic(step.topic) == nullptr) return Unsubscription::unknown_topic;
    if (!subscriber->topics.contains(step.topic)) return Unsubscription::not_subscribed;
    registry_.unlink(*subscriber, step.topic);
    changes_.changed(*subscriber);
    return Unsubscription::unsubscribed;
}

template <>
Result<RemoveSubscriber::Reply> SubscriberDomain::apply(RemoveSubscriber& step) {
    auto* subscriber = registry_.subscriber(step.token);
    if (subscriber == nullptr) return Removal::unknown;
    remove(*subscriber);
    return Removal::removed;
}

void SubscriberDomain::remove(SubscriberState& subscriber) {
    subscriber.subscriber_queue->group.window = OrderingGroup::start;
    jobs_.groups().set_concurrency(subscriber.subscriber_queue->group, 1);
    jobs_.destinations().abandon(subscriber.subscriber_queue->group);
    registry_.remove(subscriber);
}

template <>
Result<ListSubscribers::Reply> SubscriberDomain::apply(ListSubscribers& step) {
    return registry_.subscribers(step.page);
}

template <>
Result<FindSubscriber::Reply> SubscriberDomain::apply(FindSubscriber& step) {
    const auto* subscriber = registry_.subscriber(step.token);
    if (subscriber == nullptr) return std::optional<SubscriberStatus>{};
    return std::optional{Registry::status(*subscriber)};
}

Outcome SubscriberDomain::perform(SubscriberSteps steps, Step& step) {
    return apply_one_of(*this, steps, step);
}

}  // namespace routemaster::detail
