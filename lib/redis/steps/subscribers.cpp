#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lua_sources.hpp"
#include "redis/steps/protocols.hpp"
#include "redis/steps/remove_subscriber.hpp"
#include "redis/steps/subscription_reply.hpp"
#include "routemaster/names.hpp"
#include "routemaster/url.hpp"

namespace routemaster::redis {
namespace {

SubscriberStatus status(const redisReply& part, const ScriptReply& reply) {
    const auto parts = items(part, 15);
    SubscriberStatus found{
        .subscription = subscription({parts[0], parts[1], parts[2], parts[3], parts[4], parts[5],
                                      parts[11], parts[12], parts[13]}),
        .topics = list<std::string>(*parts[10],
                                    [](const redisReply& name) { return std::string{text(name)}; }),
        .events_queued = static_cast<std::uint64_t>(number_or(*parts[8], 0)),
        .batches_queued = static_cast<std::uint64_t>(number_or(*parts[9], 0)),
        .health_points = within<int>(*parts[6], 100),
        .last_attempted_at = std::nullopt,
        .batches_dead = static_cast<std::uint64_t>(number_or(*parts[14], 0))};
    if (!absent(*parts[7])) found.last_attempted_at = reply.time(*parts[7]);
    std::sort(found.topics.begin(), found.topics.end());
    return found;
}

}  // namespace

template <>
struct StepProtocol<Subscribe> {
    static Script script() {
        using namespace lua;
        return compose(Subscribe::traits,
                       {expect, index, unindex, wake, job, callback, group_concurrency,
                        ordering_group, concurrency, redirect, idle_topic},
                       subscribe);
    }

    /// A topic name that violates Ruby's rules would break the topic lists of Ruby processes. A
    /// callback that is no URL would crash their workers.
    static Result<void> check_mixed_fleet(const Subscribe& step, const RequestContext&) {
        if (auto checked =
                routemaster::check(step.token, step.topics, step.options, TopicRule::ruby);
            !checked) {
            return checked;
        }
        return check_url(step.options.callback, "callback", UrlRule::any);
    }

    static void request(Request& request, const Subscribe& step) {
        const auto& options = step.options;
        const auto milliseconds = [](const std::optional<Duration>& span) {
            return span ? std::optional{span->count()} : std::nullopt;
        };
        request.on("subscriber:", step.token)
            .add(step.token)
            .add(options.callback)
            .add(options.uuid);
        request.add_if(milliseconds(options.timeout));
        request.add_if(options.max_events);
        request.add_if(options.max_in_flight);
        request.add_if(options.attempts_max);
        request.add_if(milliseconds(options.age_max));
        request.add_if(options.dead_max);
        for (const auto& topic : step.topics) request.arguments().add(topic);
    }
    static Done reply(const ScriptReply&) { return {}; }
};

template <>
struct StepProtocol<Unsubscribe> {
    static Script script() {
        using namespace lua;
        return compose(Unsubscribe::traits, {expect, unindex, idle_topic}, unsubscribe);
    }
    static void request(Request& request, const Unsubscribe& step) {
        request.on("topics:", step.token).add(step.token).add(step.topic);
    }
    static Unsubscription reply(const ScriptReply& reply) {
        switch (number(reply.value)) {
            case 0: return Unsubscription::unsubscribed;
            case 1: return Unsubscription::unknown_subscriber;
            case 2: return Unsubscription::unknown_topic;
            case 3: return Unsubscription::not_subscribed;
            default: throw Unexpected{};
        }
    }
};

template <>
struct StepProtocol<RemoveSubscriber> {
    static Script script() { return remove_subscriber_script(RemoveSubscriber::traits); }
    static void request(Request& request, const RemoveSubscriber& step) {
        request.on("subscriber:", step.token).add(step.token).add("");
    }
    static Removal reply(const ScriptReply& reply) { return removal(reply.value); }
};

template <>
struct StepProtocol<ListSubscribers> {
    static constexpr std::string_view listed_names = "subscribers";

    static Script script() {
        using namespace lua;
        return compose(ListSubscribers::traits, {page, subscriber}, list_subscribers);
    }
    static void request(Request& request, const ListSubscribers& step) {
        request.on(listed_names);
        request.page(step.page);
    }
    static std::vector<SubscriberStatus> reply(const ScriptReply& reply) {
        return list<SubscriberStatus>(reply.value,
                                      [&](const redisReply& one) { return status(one, reply); });
    }
};

template <>
struct StepProtocol<FindSubscriber> {
    static Script script() {
        using namespace lua;
        return compose(FindSubscriber::traits, {subscriber}, find_subscriber);
    }
    static void request(Request& request, const FindSubscriber& step) {
        request.on("subscribers").add(step.token);
    }
    static std::optional<SubscriberStatus> reply(const ScriptReply& reply) {
        if (absent(reply.value)) return std::nullopt;
        return status(reply.value, reply);
    }
};

template struct Protocols<SubscriberSteps>;

}  // namespace routemaster::redis
