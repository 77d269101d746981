/// @file
/// `Registry`: the topics, subscribers and API tokens of the state machine.

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/bus/state/subscriber_queues.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "routemaster/health.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/subscription.hpp"
#include "routemaster/topic.hpp"

namespace routemaster::detail {

struct SubscriberState;

struct TopicState : Entity {
    static constexpr Record record{
        .whole = 1, .gone = 2, .fields = 3, .fields_min = 3, .format = 1};

    TopicState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return topic.name; }
    template <class Out>
    void write(Out& out) const {
        out.optional_text(topic.publisher);
        out.natural(topic.events);
    }
    template <class In>
    void read(In& in) {
        topic.name = in.text();
        topic.publisher = in.optional_text();
        topic.events = in.natural();
    }

    Topic topic;
    std::vector<SubscriberState*> subscribers;
    CounterState* published = nullptr;  ///< For the current publisher. Null before use.
    CounterState* bytes = nullptr;
};

struct SubscriberState : Entity {
    static constexpr Record record{
        .whole = 3, .gone = 4, .fields = 12, .fields_min = 9, .format = 3};

    SubscriberState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return subscription.token; }
    template <class Out>
    void write(Out& out) const {
        out.text(subscription.callback);
        out.text(subscription.uuid);
        out.integer(subscription.timeout.count());
        out.integer(subscription.max_events);
        out.integer(subscription.max_in_flight);
        out.integer(health_points);
        out.optional_time(last_attempted_at);
        out.texts(topics);
        out.integer(subscription.attempts_max);
        out.integer(subscription.age_max.count());
        out.integer(subscription.dead_max);
    }
    template <class In>
    void read(In& in) {
        subscription.token = in.text();
        subscription.callback = in.text();
        subscription.uuid = in.text();
        subscription.timeout = Duration{in.integer()};
        subscription.max_events = in.template integer<std::uint32_t>();
        subscription.max_in_flight = in.template integer<std::uint32_t>();
        health_points = in.template integer<int>();
        last_attempted_at = in.optional_time();
        const auto names = in.texts();
        topics = {names.begin(), names.end()};
        if (!in.more()) return;
        subscription.attempts_max = in.template integer<std::uint32_t>();
        subscription.age_max = Duration{in.integer()};
        subscription.dead_max = in.template integer<std::uint32_t>();
    }

    Subscription subscription;
    std::set<std::string> topics;
    int health_points = health_points_max;
    std::optional<TimePoint> last_attempted_at;
    SubscriberQueue* subscriber_queue = nullptr;
};

struct TokenState : Entity {
    static constexpr Record record{
        .whole = 5, .gone = 6, .fields = 2, .fields_min = 2, .format = 1};

    TokenState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return token.token; }
    template <class Out>
    void write(Out& out) const {
        out.text(token.name);
    }
    template <class In>
    void read(In& in) {
        token.token = in.text();
        token.name = in.text();
    }

    ApiToken token;
};

class Registry {
public:
    Registry(ChangeLog& changes, SubscriberQueueTable& subscriber_queues)
        : changes_{changes}, subscriber_queues_{subscriber_queues} {}

    [[nodiscard]] TopicState* topic(const std::string& name) { return topics_.find(name); }
    [[nodiscard]] SubscriberState* subscriber(const std::string& token) {
        return subscribers_.find(token);
    }
    [[nodiscard]] TokenState* token(const std::string& token) { return tokens_.find(token); }

    [[nodiscard]] auto tables() noexcept { return std::tie(topics_, subscribers_, tokens_); }

    TopicState& create_topic(const std::string& name, std::optional<std::string> publisher) {
        auto& state = topics_.open(name);
        state.topic.name = name;
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
        topics_.erase(state);
    }

    [[nodiscard]] std::uint32_t claims(const std::string& publisher) const {
        const auto found = claims_.find(publisher);
        return found == claims_.end() ? 0 : found->second;
    }

    /// The subscriber with this token, created with default settings if missing. The caller sets
    /// its fields and notifies the change log.
    SubscriberState& open_subscriber(const std::string& token) {
        auto& state = subscribers_.open(token);
        state.subscription.token = token;
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
        // Removes a topic created by subscriptions only. Otherwise it would stay for ever, and a
        // client could create any number of these topics.
        const auto& topic = state->topic;
        if (state->subscribers.empty() && !topic.publisher && topic.events == 0) remove(*state);
    }

    void remove(SubscriberState& state) {
        for (const auto& name : std::set<std::string>{state.topics}) unlink(state, name);
        while (auto* dead = state.subscriber_queue->dead.front())
            subscriber_queues_.drop_dead(*dead);
        subscriber_queues_.close(*state.subscriber_queue);
        changes_.gone(state);
        subscribers_.erase(state);
    }

    void put_token(const ApiToken& token) {
        auto& state = tokens_.open(token.token);
        state.token = token;
        changes_.changed(state);
    }

    void remove(TokenState& state) {
        changes_.gone(state);
        tokens_.erase(state);
    }

    [[nodiscard]] std::vector<Topic> topics(const Page& page) const {
        return topics_.list<Topic>(page, [](const TopicState& state) { return state.topic; });
    }
    [[nodiscard]] std::vector<SubscriberStatus> subscribers(const Page& page) const {
        return subscribers_.list<SubscriberStatus>(page, status);
    }
    [[nodiscard]] std::vector<ApiToken> tokens(const Page& page) const {
        return tokens_.list<ApiToken>(page, [](const TokenState& state) { return state.token; });
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

    /// Links restored entities to each other, in whatever order they were restored.
    void settle_restored(JobTable& jobs) {
        claims_.clear();
        for (const auto& [name, state] : topics_) count_claim(state.topic);
        for (auto& [token, state] : subscribers_) {
            state.subscriber_queue = &subscriber_queues_.open(token);
            jobs.groups().set_concurrency(state.subscriber_queue->group,
                                          state.subscription.max_in_flight);
            jobs.destinations().direct(state.subscriber_queue->group,
                                       destination_of(state.subscription.callback));
            for (const auto& name : state.topics) {
                if (auto* wanted = topic(name)) enlist(*wanted, state);
            }
        }
    }

private:
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
    NamedTable<TopicState> topics_;
    NamedTable<SubscriberState> subscribers_;
    NamedTable<TokenState> tokens_;
    std::unordered_map<std::string, std::uint32_t> claims_;  ///< Owned topics by publisher.
};

}  // namespace routemaster::detail
