/// @file
/// The topics, subscribers and API tokens of the state machine.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/subscriber_queues.hpp"
#include "routemaster/health.hpp"
#include "routemaster/step.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/topic.hpp"

namespace routemaster::detail {

/// A topic and its subscribers, in the order of their tokens.
struct TopicState : Entity {
    TopicState() noexcept : Entity{Kind::topic} {}

    Topic topic;
    std::vector<SubscriberState*> subscribers;
    CounterState* published = nullptr;  ///< Of its current publisher; null until it is needed.
    CounterState* bytes = nullptr;
};

/// A subscriber and its topics.
struct SubscriberState : Entity {
    SubscriberState() noexcept : Entity{Kind::subscriber} {}

    Subscription subscription;
    std::set<std::string> topics;
    int health_points = health_points_max;
    std::optional<TimePoint> last_attempted_at;
    SubscriberQueue* subscriber_queue = nullptr;
};

/// An API token.
struct TokenState : Entity {
    TokenState() noexcept : Entity{Kind::token} {}

    ApiToken token;
};

/// All topics, subscribers and API tokens.
class Registry {
public:
    Registry(ChangeLog& changes, SubscriberQueueTable& subscriber_queues)
        : changes_{changes}, subscriber_queues_{subscriber_queues} {}

    [[nodiscard]] TopicState* topic(const std::string& name) { return find(topics_, name); }
    [[nodiscard]] SubscriberState* subscriber(const std::string& token) {
        return find(subscribers_, token);
    }
    [[nodiscard]] TokenState* token(const std::string& token) { return find(tokens_, token); }

    TopicState& create_topic(const std::string& name, std::optional<std::string> publisher) {
        auto& state = restore_topic(name);
        state.topic.publisher = std::move(publisher);
        count_claim(state.topic);
        changes_.changed(state);
        return state;
    }

    void claim(TopicState& state, const std::string& publisher) {
        state.topic.publisher = publisher;
        count_claim(state.topic);
        state.published = state.bytes = nullptr;
        changes_.changed(state);
    }

    void remove(TopicState& state) {
        for (auto* subscriber : state.subscribers) {
            subscriber->topics.erase(state.topic.name);
            changes_.changed(*subscriber);
        }
        if (state.topic.publisher) {
            const auto claims = claims_.find(*state.topic.publisher);
            if (--claims->second == 0) claims_.erase(claims);
        }
        changes_.gone(state);
        topics_.erase(std::string{state.topic.name});
    }

    /// How many topics a publisher owns.
    [[nodiscard]] std::uint32_t claims(const std::string& publisher) const {
        const auto found = claims_.find(publisher);
        return found == claims_.end() ? 0 : found->second;
    }

    /// The subscriber with that token, created with the default settings if missing. The caller
    /// sets its fields and reports the change.
    SubscriberState& open_subscriber(const std::string& token) {
        auto& state = restore_subscriber(token);
        if (state.subscriber_queue == nullptr)
            state.subscriber_queue = &subscriber_queues_.open(token);
        return state;
    }

    void link(SubscriberState& subscriber, TopicState& topic) {
        if (!subscriber.topics.insert(topic.topic.name).second) return;
        enlist(topic, subscriber);
    }

    void unlink(SubscriberState& subscriber, const std::string& name) {
        subscriber.topics.erase(name);
        auto* state = topic(name);
        if (state == nullptr) return;
        std::erase(state->subscribers, &subscriber);
        // Only subscriptions created this topic. If it stayed, it would stay for ever, and one
        // client can create any number of them.
        const auto& topic = state->topic;
        if (state->subscribers.empty() && !topic.publisher && topic.events == 0) remove(*state);
    }

    void remove(SubscriberState& state) {
        for (const auto& name : std::set<std::string>{state.topics}) unlink(state, name);
        while (auto* dead = state.subscriber_queue->dead.front())
            subscriber_queues_.drop_dead(*dead);
        subscriber_queues_.close(*state.subscriber_queue);
        changes_.gone(state);
        subscribers_.erase(std::string{state.subscription.token});
    }

    void put_token(const ApiToken& token) {
        auto& state = restore_token(token.token);
        state.token.name = token.name;
        changes_.changed(state);
    }

    void remove(TokenState& state) {
        changes_.gone(state);
        tokens_.erase(std::string{state.token.token});
    }

    [[nodiscard]] std::vector<Topic> topics(const Page& page) const {
        return page_of<Topic>(topics_, page, [](const TopicState& state) { return state.topic; });
    }
    [[nodiscard]] std::vector<SubscriberStatus> subscribers(const Page& page) const {
        return page_of<SubscriberStatus>(subscribers_, page, status);
    }
    [[nodiscard]] std::vector<ApiToken> tokens(const Page& page) const {
        return page_of<ApiToken>(tokens_, page,
                                 [](const TokenState& state) { return state.token; });
    }

    [[nodiscard]] static SubscriberStatus status(const SubscriberState& state) {
        return {.subscription = state.subscription,
                .topics = {state.topics.begin(), state.topics.end()},
                .events_queued = state.subscriber_queue->events,
                .batches_queued = state.subscriber_queue->batches.size(),
                .health_points = state.health_points,
                .last_attempted_at = state.last_attempted_at,
                .batches_dead = state.subscriber_queue->dead.size()};
    }

    // --- Restoring ------------------------------------------------------------------------------

    TopicState& restore_topic(const std::string& name) {
        auto& state = topics_[name];
        state.topic.name = name;
        return state;
    }
    SubscriberState& restore_subscriber(const std::string& token) {
        auto& state = subscribers_[token];
        state.subscription.token = token;
        return state;
    }
    TokenState& restore_token(const std::string& token) {
        auto& state = tokens_[token];
        state.token.token = token;
        return state;
    }
    void unrestore_topic(const std::string& name) { topics_.erase(name); }
    void unrestore_subscriber(const std::string& token) { subscribers_.erase(token); }
    void unrestore_token(const std::string& token) { tokens_.erase(token); }

    /// Links what was restored, in any order.
    void settle_restored(JobTable& jobs) {
        claims_.clear();
        for (const auto& [name, state] : topics_) count_claim(state.topic);
        for (auto& [token, state] : subscribers_) {
            state.subscriber_queue = &subscriber_queues_.open(token);
            jobs.set_concurrency(state.subscriber_queue->group, state.subscription.max_in_flight);
            for (const auto& name : state.topics) {
                if (auto* wanted = topic(name)) enlist(*wanted, state);
            }
        }
    }

private:
    template <class State>
    [[nodiscard]] static State* find(std::map<std::string, State>& states, const std::string& key) {
        const auto found = states.find(key);
        return found == states.end() ? nullptr : &found->second;
    }

    template <class Listed, class State, class Make>
    [[nodiscard]] static std::vector<Listed> page_of(const std::map<std::string, State>& states,
                                                     const Page& page, Make make) {
        std::vector<Listed> all;
        for (auto place = states.upper_bound(page.after);
             place != states.end() && all.size() < page.limit; ++place) {
            all.push_back(make(place->second));
        }
        return all;
    }

    void count_claim(const Topic& topic) {
        if (topic.publisher) ++claims_[*topic.publisher];
    }

    static void enlist(TopicState& topic, SubscriberState& subscriber) {
        const auto place =
            std::lower_bound(topic.subscribers.begin(), topic.subscribers.end(), &subscriber,
                             [](const SubscriberState* a, const SubscriberState* b) {
                                 return a->subscription.token < b->subscription.token;
                             });
        topic.subscribers.insert(place, &subscriber);
    }

    ChangeLog& changes_;
    SubscriberQueueTable& subscriber_queues_;
    std::map<std::string, TopicState> topics_;
    std::map<std::string, SubscriberState> subscribers_;
    std::map<std::string, TokenState> tokens_;
    std::unordered_map<std::string, std::uint32_t> claims_;  ///< Topics, by their publisher.
};

}  // namespace routemaster::detail
