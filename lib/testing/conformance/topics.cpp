#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"

namespace routemaster::testing {

void add_topic_cases(StoreCases& add) {
    add("publishing creates the topic and claims it for the publisher", [](Scenario& s) {
        s.publish("orders", 1, {.publisher = "shop--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "shop--key", 1}}, "topics");
    });

    add("publishing without a publisher leaves the topic unclaimed", [](Scenario& s) {
        s.publish("orders", 2, {.publisher = std::nullopt});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", std::nullopt, 2}}, "topics");
    });

    add("an unclaimed topic belongs to the first named publisher", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 1, {.publisher = std::nullopt});
        s.publish("orders", 1, {.publisher = "shop--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "shop--key", 2}}, "topics");
        s.expect_forbidden(s.publication("orders", "intruder", {.publisher = "other--key"}),
                           "topic");
    });

    add("publishing to another publisher's topic is forbidden and changes nothing",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"});
            s.publish("orders", 1, {.publisher = "shop--key"});
            for (const std::optional<std::string>& publisher :
                 {std::optional<std::string>{"other--key"}, std::optional<std::string>{"shop"},
                  std::optional<std::string>{}}) {
                s.expect_forbidden(s.publication("orders", "intruder", {.publisher = publisher}),
                                   "topic");
            }
        });

    add("a publisher claims topics only up to its limit of topics", [](Scenario& s) {
        const auto publication = [&](const std::string& topic, const std::string& publisher,
                                     std::uint32_t topics_max) {
            auto step = s.publication(topic, "x", {.publisher = publisher});
            step.topics_max = topics_max;
            return step;
        };
        s.subscribe("billing", {"c", "d"});
        s.perform(publication("a", "shop", 2));
        s.perform(publication("b", "shop", 2));
        s.expect_error(Errc::limit_exceeded, publication("c", "shop", 2), "topic");
        s.expect_error(Errc::limit_exceeded, publication("new", "shop", 2), "topic");
        s.perform(publication("a", "shop", 2));   // A topic that `shop` owns.
        s.perform(publication("c", "other", 2));  // A topic that another publisher owns.
        s.perform(publication("d", "shop", 3));   // A third topic of `shop`, within the limit.
        expect_equal(s.perform(RemoveTopic{"a", "shop"}), Removal::removed,
                     "outcome of the removal of a topic");
        expect_equal(s.perform(RemoveTopic{"b", std::nullopt}), Removal::removed,
                     "outcome of the removal of another topic");
        s.perform(publication("e", "shop", 2));
        s.expect_error(Errc::limit_exceeded, publication("f", "shop", 2), "topic");
    });

    add("when publishers are authenticated, publishing requires a valid token", [](Scenario& s) {
        const auto publication = [&](const std::string& topic,
                                     const std::optional<std::string>& publisher) {
            auto step = s.publication(topic, "m", {.publisher = publisher});
            step.authenticate = true;
            return step;
        };
        const auto refused = [&](const std::string& topic,
                                 const std::optional<std::string>& publisher) {
            s.expect_error(Errc::unauthenticated, publication(topic, publisher), "publisher");
        };
        s.subscribe("billing", {"orders", "mine"}, {.timeout = Duration{0}});
        s.perform(PutToken{"shop--key", "shop"});
        for (const std::optional<std::string>& stranger :
             {std::optional<std::string>{"other--key"}, std::optional<std::string>{"shop"},
              std::optional<std::string>{"shop--ke"}, std::optional<std::string>{""},
              std::optional<std::string>{"billing"}, std::optional<std::string>{}}) {
            refused("orders", stranger);
        }
        s.perform(publication("orders", "shop--key"));
        s.expect_delivered("billing", {{"m"}});
        expect_equal(s.topics(),
                     std::vector<Topic>{{"mine", std::nullopt, 0}, {"orders", "shop--key", 1}},
                     "topics");

        // The store authenticates the publisher before it checks the owner of the topic.
        s.publish("mine", 1, {.publisher = "mine--key"});
        refused("mine", "other--key");
        s.expect_forbidden(publication("mine", "shop--key"), "topic");

        s.perform(RemoveToken{"shop--key"});
        refused("orders", "shop--key");
    });

    add("a topic counts its events with and without subscribers", [](Scenario& s) {
        s.publish("orders", 3);
        s.subscribe("billing", {"orders"});
        s.publish("orders", 2);
        expect_equal(s.topics(), std::vector<Topic>{{"orders", shop, 5}}, "topics");
    });

    add("an invalid topic name is refused and changes nothing", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        for (const std::string& name :
             {std::string{}, std::string(65, 'a'), std::string{"Orders"}, std::string{".."},
              std::string{"-orders"}, std::string{"a/b"}, std::string{"a:b"},
              std::string{"my orders"}, std::string{"orders\n"}, std::string{"orders\0x", 8},
              std::string{"\xc3\xa4"}}) {
            s.expect_refused(s.publication(name, "m"), "topic");
        }
        s.publish(std::string(64, 'a'));
        s.publish("_");
    });

    add("a topic's name may contain digits, dots and hyphens", [](Scenario& s) {
        const std::vector<std::string> names{"2-orders.v2", "orders", "orders-", "orders.eu", "x2"};
        s.subscribe("billing", names);
        for (const auto& name : names) s.publish(name);
        expect_equal(s.subscriber("billing").topics, names, "topics of the subscriber");
        expect_equal(s.topics().size(), names.size(), "topics");
        s.perform(Unsubscribe{"billing", "x2"});
        expect_equal(s.perform(RemoveTopic{"orders.eu", shop}), Removal::removed,
                     "outcome of the removal");
        expect_equal(s.subscriber("billing").topics,
                     std::vector<std::string>{"2-orders.v2", "orders", "orders-"},
                     "topics left to the subscriber");
        s.advance(Duration{500});
        s.expect_delivered("billing",
                           {{"2-orders.v2 1", "orders 1", "orders- 1", "orders.eu 1", "x2 1"}});
    });

    add("topics are listed by name and page by page", [](Scenario& s) {
        for (const char* name : {"c", "a", "e", "b", "d"}) s.publish(name);
        const auto names = [&](const Page& page) {
            std::string all;
            for (const auto& topic : s.perform(ListTopics{page})) all += topic.name;
            return all;
        };
        expect_equal(names({}), "abcde", "all topics");
        expect_equal(names({.after = "", .limit = 2}), "ab", "topics on the first page");
        expect_equal(names({.after = "b", .limit = 2}), "cd", "topics on the second page");
        expect_equal(names({.after = "d", .limit = 2}), "e", "topics on the last page");
        expect_equal(names({.after = "e", .limit = 2}), "", "topics after the last page");
        expect_equal(names({.after = "bb", .limit = 1}), "c",
                     "topics on a page after an unknown name");
        s.expect_refused(ListTopics{{.after = "", .limit = 0}}, "limit");
    });

    add("removing a topic ends its subscriptions", [](Scenario& s) {
        s.subscribe("billing", {"orders", "refunds"});
        s.publish("orders");
        s.advance(Duration{500});
        s.drain();
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::removed,
                     "outcome of the removal");
        expect_equal(s.subscriber("billing").topics, std::vector<std::string>{"refunds"},
                     "topics of the subscriber");
        expect_equal(s.topics(), std::vector<Topic>{{"refunds", std::nullopt, 0}}, "topics");
        s.publish("orders");
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{},
                     "batches after an event for the new topic of the same name");
    });

    add("queued events of a removed topic are still delivered", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 2);
        s.perform(RemoveTopic{"orders", std::nullopt});
        s.advance(Duration{500});
        s.expect_delivered("billing", {{"orders 1", "orders 2"}});
    });

    add("only its publisher and the operator remove a topic", [](Scenario& s) {
        s.subscribe("billing", {"orders", "unclaimed"});
        s.publish("orders");
        s.expect_forbidden(RemoveTopic{"orders", "other--key"}, "topic");
        s.expect_forbidden(RemoveTopic{"unclaimed", shop}, "topic");
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::removed,
                     "outcome of a removal by the publisher");
        expect_equal(s.perform(RemoveTopic{"unclaimed", std::nullopt}), Removal::removed,
                     "outcome of a removal by the operator");
        expect_equal(s.topics(), std::vector<Topic>{}, "topics");
    });

    add("removing a missing topic changes nothing", [](Scenario& s) {
        s.publish("orders");
        s.perform(RemoveTopic{"orders", shop});
        s.publish("refunds");
        const auto before = s.snapshot();
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::unknown,
                     "outcome of a second removal");
        expect_equal(s.perform(RemoveTopic{"", std::nullopt}), Removal::unknown,
                     "outcome of the removal of the topic \"\"");
        expect_unchanged(s.snapshot(), before);
    });

    add("another publisher can claim the name of a removed topic", [](Scenario& s) {
        s.publish("orders", 3);
        s.perform(RemoveTopic{"orders", shop});
        s.publish("orders", 1, {.publisher = "other--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "other--key", 1}}, "topics");
    });
}

}  // namespace routemaster::testing
