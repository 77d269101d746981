#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {

void add_subscription_cases(StoreCases& add) {
    add("a new subscriber begins healthy and with the default settings", [](Scenario& s) {
        s.subscribe("billing", {"orders", "cats"},
                    {.callback = "https://billing.example/in", .uuid = "secret"});
        const SubscriberStatus expected{.subscription = {.token = "billing",
                                                         .callback = "https://billing.example/in",
                                                         .uuid = "secret",
                                                         .timeout = Duration{500},
                                                         .max_events = 100,
                                                         .max_in_flight = 1},
                                        .topics = {"cats", "orders"},
                                        .events_queued = 0,
                                        .batches_queued = 0,
                                        .health_points = 100,
                                        .last_attempted_at = std::nullopt};
        expect_equal(s.subscriber("billing"), expected, "status of the subscriber");
    });

    add("subscribing again keeps omitted numbers, and empties the uuid", [](Scenario& s) {
        s.subscribe("billing", {"orders"},
                    {.callback = "https://old.example/",
                     .uuid = "secret",
                     .timeout = Duration{7},
                     .max_events = 8,
                     .max_in_flight = 9});
        s.subscribe("billing", {"orders"}, {.callback = "https://new.example/"});
        const Subscription expected{.token = "billing",
                                    .callback = "https://new.example/",
                                    .uuid = "",
                                    .timeout = Duration{7},
                                    .max_events = 8,
                                    .max_in_flight = 9};
        expect_equal(s.subscriber("billing").subscription, expected,
                     "subscription after the second request");
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}, .max_events = 1});
        expect_equal(s.subscriber("billing").subscription.timeout, Duration{0}, "timeout");
        expect_equal(s.subscriber("billing").subscription.max_events, 1U, "max_events");
        expect_equal(s.subscriber("billing").subscription.max_in_flight, 9U, "max_in_flight");
    });

    add("subscribing replaces the topics and creates unknown topics without an owner",
        [](Scenario& s) {
            s.publish("orders");
            s.subscribe("billing", {"orders", "refunds"});
            s.subscribe("billing", {"cats", "orders"});
            expect_equal(s.subscriber("billing").topics, std::vector<std::string>{"cats", "orders"},
                         "topics of the subscriber");
            const std::vector<Topic> topics{{"cats", std::nullopt, 0}, {"orders", shop, 1}};
            expect_equal(s.topics(), topics, "topics");
            s.publish("refunds");
            s.publish("cats");
            s.advance(Duration{500});
            s.expect_delivered("billing", {{"cats 1"}});
            s.subscribe("billing", {});
            s.publish("cats");
            s.publish("orders");
            expect_equal(s.batches("billing"), std::vector<BatchStatus>{},
                         "batches of a subscriber without topics");
        });

    add("a topic that a subscription names twice counts once", [](Scenario& s) {
        s.subscribe("billing", {"orders", "orders"});
        s.publish("orders");
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"orders 1"}});
    });

    add("subscribing again keeps health, attempts and queued events", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders", 2);
        s.fail_next(-30);
        const auto attempted_at = s.now();
        s.advance(Duration{60'000});
        s.subscribe("billing", {"refunds"});
        const auto now = s.subscriber("billing");
        expect_equal(now.health_points, 70, "health");
        expect_equal(now.last_attempted_at, std::optional{attempted_at},
                     "time of the last attempt");
        expect_equal(now.events_queued, 2U, "events queued");
        s.expect_delivered("billing", {{"orders 1", "orders 2"}});
    });

    add("a delivery has the subscriber's settings at its beginning", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.callback = "https://old.example/"});
        s.publish("orders");
        s.advance(Duration{500});
        s.subscribe("billing", {"orders"}, {.callback = "https://new.example/", .uuid = "fresh"});
        const auto [lease, start] = s.begin_next();
        expect_equal(start.subscription.callback, "https://new.example/", "callback");
        expect_equal(start.subscription.uuid, "fresh", "uuid");
    });

    add("an invalid subscription is refused, names the field, changes nothing", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{9}, .max_events = 9});
        s.publish("orders");
        const auto refused = [&](const char* field, const std::string& token,
                                 const std::vector<std::string>& topics,
                                 const SubscribeOptions& options, Where at = Where::here()) {
            s.expect_refused(Subscribe{token, topics, options}, field, at);
        };
        const SubscribeOptions good{.callback = "https://x.example/"};
        refused("subscriber", "", {"cats"}, good);
        refused("subscriber", "Billing", {"cats"}, good);
        refused("subscriber", std::string(65, 'b'), {"cats"}, good);
        refused("callback", "billing", {"cats"}, {.callback = ""});
        refused("topics", "billing", {"cats", "No"}, good);
        refused("topics", "fresh", {"dogs", ""}, good);
        refused("timeout", "billing", {"cats"}, {.callback = "x", .timeout = Duration{-1}});
        refused("timeout", "billing", {"cats"}, {.callback = "x", .timeout = Duration{3'600'001}});
        refused("callback", "fresh", {"cats"}, {.callback = "local:"});
        refused("max", "fresh", {"cats"}, {.callback = "x", .max_events = 0});
        refused("max_in_flight", "billing", {"cats"}, {.callback = "x", .max_in_flight = 0});
        s.subscribe("a-z_0:9", {}, {.timeout = Duration{3'600'000}, .max_events = 4'000'000'000});
        s.subscribe(std::string(64, 'b'), {}, {.timeout = Duration{0}, .max_events = 1});
    });

    add("unsubscribing from a topic keeps the subscriber's queued batches", [](Scenario& s) {
        s.subscribe("audit", {"orders"});
        s.subscribe("billing", {"orders", "refunds"});
        s.publish("orders");
        expect_equal(s.perform(Unsubscribe{"billing", "orders"}), Unsubscription::unsubscribed,
                     "outcome of the request");
        s.publish("orders");
        s.publish("refunds");
        expect_equal(s.subscriber("billing").topics, std::vector<std::string>{"refunds"},
                     "topics of the subscriber");
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"orders 1", "refunds 1"}});
        s.expect_delivered("audit", {{"orders 1", "orders 2"}});
    });

    add("unsubscribing from a topic that is not subscribed to returns the name, and changes "
        "nothing",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"});
            s.publish("refunds");
            const auto before = s.snapshot();
            expect_equal(s.perform(Unsubscribe{"nobody", "nothing"}),
                         Unsubscription::unknown_subscriber, "outcome for an unknown subscriber");
            expect_equal(s.perform(Unsubscribe{"billing", "nothing"}),
                         Unsubscription::unknown_topic, "outcome for an unknown topic");
            expect_equal(s.perform(Unsubscribe{"billing", "refunds"}),
                         Unsubscription::not_subscribed,
                         "outcome for a topic without this subscriber");
            expect_unchanged(s.snapshot(), before);
            s.publish("orders");
            s.perform(Unsubscribe{"billing", "orders"});
            expect_equal(s.perform(Unsubscribe{"billing", "orders"}),
                         Unsubscription::not_subscribed, "outcome of a repeated request");
        });

    add("a topic that only subscriptions created ends with the last subscription", [](Scenario& s) {
        s.subscribe("audit", {"a", "b"});
        s.subscribe("billing", {"a", "b", "c", "published", "unclaimed"});
        s.publish("published");
        s.publish("unclaimed", 1, {.publisher = std::nullopt});
        const auto names = [&] {
            std::string all;
            for (const auto& topic : s.topics()) all += topic.name + ' ';
            return all;
        };
        expect_equal(names(), std::string{"a b c published unclaimed "}, "topics");
        s.perform(Unsubscribe{"billing", "a"});
        expect_equal(names(), std::string{"a b c published unclaimed "},
                     "topics after the first of two subscriptions to 'a' ended");
        s.subscribe("audit", {"b"});
        expect_equal(names(), std::string{"b c published unclaimed "},
                     "topics after the last subscription to 'a' ended");
        expect_equal(s.perform(Unsubscribe{"billing", "a"}), Unsubscription::unknown_topic,
                     "outcome for a forgotten topic");
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(names(), std::string{"b published unclaimed "},
                     "topics after the subscriber was removed");
        s.perform(RemoveToken{"audit"});
        expect_equal(names(), std::string{"published unclaimed "},
                     "topics after the token was removed");
        s.subscribe("search", {"a"});
        s.publish("a");
        s.advance(Duration{500});
        s.expect_delivered("search", {{"a 1"}});
    });

    add("subscribers are listed by token and page by page", [](Scenario& s) {
        for (const char* token : {"c", "a", "d", "b"}) s.subscribe(token, {"orders"});
        const auto tokens = [&](const Page& page) {
            std::string all;
            for (const auto& one : s.perform(ListSubscribers{page})) all += one.subscription.token;
            return all;
        };
        expect_equal(tokens({}), "abcd", "all subscribers");
        expect_equal(tokens({.after = "", .limit = 3}), "abc", "subscribers on the first page");
        expect_equal(tokens({.after = "c", .limit = 3}), "d", "subscribers on the last page");
        s.expect_refused(ListSubscribers{{.after = "", .limit = 0}}, "limit");
        expect_equal(s.perform(ListSubscribers{}).at(1), s.subscriber("b"),
                     "status of the listed subscriber");
        expect_equal(s.perform(FindSubscriber{"e"}).has_value(), false,
                     "an unknown subscriber is found");
    });
}

void add_subscriber_removal_cases(StoreCases& add) {
    add("a removed subscriber gets no further events and is no longer listed", [](Scenario& s) {
        s.subscribe("audit", {"orders"});
        s.subscribe("billing", {"orders"}, {.timeout = Duration{9}, .max_events = 9});
        s.publish("orders");
        expect_equal(s.perform(RemoveSubscriber{"billing"}), Removal::removed,
                     "outcome of the removal");
        s.publish("orders");
        expect_equal(s.perform(FindSubscriber{"billing"}).has_value(), false,
                     "the removed subscriber is found");
        expect_equal(s.perform(ListSubscribers{}).size(), 1U, "subscribers");
        expect_equal(s.batches("billing").at(0).events, 1U, "events of the queued batch");
        expect_equal(s.topics(), std::vector<Topic>{{"orders", shop, 2}}, "topics");
        const auto before = s.snapshot();
        expect_equal(s.perform(RemoveSubscriber{"billing"}), Removal::unknown,
                     "outcome of a second removal");
        expect_unchanged(s.snapshot(), before);
    });

    add("the batches of a removed subscriber end undelivered at their due time", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 2});
        s.publish("orders", 3);
        s.perform(RemoveSubscriber{"billing"});
        s.advance(Duration{500});
        for (int i = 0; i < 2; ++i) {
            expect_equal(s.begin(s.take()).verdict, Verdict::vanished, "verdict of the attempt");
        }
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{}, "batches");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
        expect_equal(s.counter_of("billing", "events.removed"), std::optional{3}, "events.removed");
        expect_equal(s.counter_of("billing", "delivery.batches", "success"),
                     std::optional<std::int64_t>{}, "delivery.batches");
    });

    add("subscribing again before the due time delivers the queued batches", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.max_events = 2});
        s.publish("orders", 3);
        s.perform(RemoveSubscriber{"billing"});
        s.subscribe("billing", {"orders"});
        expect_equal(s.subscriber("billing").events_queued, 3U, "events queued");
        s.publish("orders");
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"orders 1", "orders 2"}, {"orders 3", "orders 4"}});
    });

    add("a subscriber that was removed and returns has default settings", [](Scenario& s) {
        s.subscribe(
            "billing", {"orders", "refunds"},
            {.uuid = "secret", .timeout = Duration{0}, .max_events = 7, .max_in_flight = 7});
        s.publish("orders");
        s.fail_next(-30);
        s.perform(RemoveSubscriber{"billing"});
        s.subscribe("billing", {"orders"});
        const auto back = s.subscriber("billing");
        expect_equal(
            back.subscription,
            Subscription{
                .token = "billing", .callback = "https://billing.example/events", .uuid = ""},
            "subscription after the return");
        expect_equal(back.topics, std::vector<std::string>{"orders"}, "topics");
        expect_equal(back.health_points, 100, "health");
        expect_equal(back.last_attempted_at, std::optional<TimePoint>{},
                     "time of the last attempt");
    });

    add("a delivery under way can be settled after its subscriber's removal", [](Scenario& s) {
        s.subscribe("billing", {"orders"}, {.timeout = Duration{0}});
        s.publish("orders");
        const auto [lease, start] = s.begin_next();
        s.perform(RemoveSubscriber{"billing"});
        expect_equal(s.settle(lease, {.delivered = true, .health_change = 1}), Settlement::settled,
                     "settlement of the delivery");
        expect_equal(s.perform(FindSubscriber{"billing"}).has_value(), false,
                     "the removed subscriber is found");
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{}, "batches");
        expect_equal(s.queue(delivery_queue), QueueStatus{}, "delivery jobs");
    });
}

void add_token_cases(StoreCases& add) {
    add("a token is valid, with its name, until its removal", [](Scenario& s) {
        const auto found = [&] { return s.perform(FindToken{"shop--key"}); };
        expect_equal(found(), std::optional<std::string>{}, "name of an unknown token");
        s.perform(PutToken{"shop--key", "shop"});
        expect_equal(found(), std::optional<std::string>{"shop"}, "name of the token");
        s.perform(PutToken{"shop--key", "store"});
        expect_equal(found(), std::optional<std::string>{"store"}, "name of the renamed token");
        expect_equal(s.perform(RemoveToken{"shop--key"}), Removal::removed,
                     "outcome of the removal");
        expect_equal(found(), std::optional<std::string>{}, "name of the removed token");
        expect_equal(s.perform(RemoveToken{"shop--key"}), Removal::unknown,
                     "outcome of a second removal");
    });

    add("tokens are listed by token and page by page", [](Scenario& s) {
        for (const char* token : {"b", "c", "a"}) s.perform(PutToken{token, "name"});
        const std::vector<ApiToken> all{{"a", "name"}, {"b", "name"}, {"c", "name"}};
        expect_equal(s.perform(ListTokens{}), all, "all tokens");
        expect_equal(s.perform(ListTokens{{.after = "a", .limit = 1}}),
                     std::vector<ApiToken>{{"b", "name"}}, "tokens on a page of one");
        s.expect_refused(ListTokens{{.after = "", .limit = 0}}, "limit");
    });

    add("an invalid token or name is refused and changes nothing", [](Scenario& s) {
        s.perform(PutToken{"shop--key", "shop"});
        for (const std::string& bad : {std::string{}, std::string{"Shop"}, std::string{"a b"},
                                       std::string(65, 'a'), std::string{"a\n"}}) {
            s.expect_refused(PutToken{bad, "shop"}, "token");
            s.expect_refused(PutToken{"shop--key", bad}, "name");
        }
    });

    add("removing a token removes the subscriber that uses the token", [](Scenario& s) {
        s.perform(PutToken{"billing", "billing"});
        s.perform(PutToken{"audit", "audit"});
        s.subscribe("billing", {"orders"});
        s.subscribe("audit", {"orders"});
        s.perform(RemoveToken{"billing"});
        expect_equal(s.perform(FindSubscriber{"billing"}).has_value(), false,
                     "the subscriber of the token is found");
        s.publish("orders");
        s.advance(Duration{500});
        s.expect_delivered("billing", {});
        s.expect_delivered("audit", {{"orders 1"}});
    });

    add("removing an unknown token still removes the subscriber that uses the token, and reports "
        "this",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"});
            expect_equal(s.perform(RemoveToken{"billing"}), Removal::removed,
                         "outcome of the removal");
            expect_equal(s.perform(FindSubscriber{"billing"}).has_value(), false,
                         "the subscriber is found");
            const auto before = s.snapshot();
            expect_equal(s.perform(RemoveToken{"billing"}), Removal::unknown,
                         "outcome of a second removal");
            expect_unchanged(s.snapshot(), before);
        });
}

}  // namespace routemaster::testing
