/// @file
/// Conformance: topics, and who may publish in them.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "routemaster/testing/conformance/case.hpp"

namespace routemaster::testing {

/// Adds the cases about topics.
inline void add_topic_cases(StoreCases& add) {
    add("publishing creates the topic and claims it for the publisher", [](Scenario& s) {
        s.publish("orders", 1, {.publisher = "shop--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "shop--key", 1}}, "topics");
    });

    add("publishing for nobody leaves the topic unclaimed", [](Scenario& s) {
        s.publish("orders", 2, {.publisher = std::nullopt});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", std::nullopt, 2}}, "topics");
    });

    add("an unclaimed topic belongs to the first publisher that names itself", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        s.publish("orders", 1, {.publisher = std::nullopt});
        s.publish("orders", 1, {.publisher = "shop--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "shop--key", 2}}, "topics");
        expect_equal(s.publish_message("orders", "intruder", {.publisher = "other--key"}),
                     PublishOutcome::forbidden, "publishing in a topic that has just been claimed");
    });

    add("publishing in another publisher's topic is forbidden and changes nothing",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"});
            s.publish("orders", 1, {.publisher = "shop--key"});
            const auto before = s.snapshot();
            for (const std::optional<std::string>& publisher :
                 {std::optional<std::string>{"other--key"}, std::optional<std::string>{"shop"},
                  std::optional<std::string>{}}) {
                expect_equal(s.publish_message("orders", "intruder", {.publisher = publisher}),
                             PublishOutcome::forbidden, "publishing as " + Text::of(publisher));
            }
            expect_unchanged(s.snapshot(), before);
        });

    add("a publisher claims no more topics than it may", [](Scenario& s) {
        const auto publish = [&](const std::string& topic, const std::string& publisher,
                                 std::uint32_t topics_max) {
            return s.perform(PublishEvent{.topic = topic,
                                          .publisher = publisher,
                                          .message = "x",
                                          .timestamp = s.now(),
                                          .uid = s.uid(),
                                          .topics_max = topics_max});
        };
        s.subscribe("billing", {"c", "d"});
        expect_equal(publish("a", "shop", 2), PublishOutcome::published, "the first");
        expect_equal(publish("b", "shop", 2), PublishOutcome::published, "the second");
        const auto before = s.snapshot();
        expect_equal(publish("c", "shop", 2), PublishOutcome::too_many_topics, "a third");
        expect_equal(publish("new", "shop", 2), PublishOutcome::too_many_topics, "a new one");
        expect_unchanged(s.snapshot(), before);
        expect_equal(publish("a", "shop", 2), PublishOutcome::published, "one of its own");
        expect_equal(publish("c", "other", 2), PublishOutcome::published, "one for another");
        expect_equal(publish("d", "shop", 3), PublishOutcome::published, "a third that it may");
        expect_equal(s.perform(RemoveTopic{"a", "shop"}), Removal::removed, "removing one");
        expect_equal(s.perform(RemoveTopic{"b", std::nullopt}), Removal::removed, "another");
        expect_equal(publish("e", "shop", 2), PublishOutcome::published, "one in its place");
        expect_equal(publish("f", "shop", 2), PublishOutcome::too_many_topics, "one beyond it");
    });

    add("a topic counts its events whether or not somebody wants them", [](Scenario& s) {
        s.publish("orders", 3);
        s.subscribe("billing", {"orders"});
        s.publish("orders", 2);
        expect_equal(s.topics(), std::vector<Topic>{{"orders", shop, 5}}, "topics");
    });

    add("a bad topic name is refused and changes nothing", [](Scenario& s) {
        s.subscribe("billing", {"orders"});
        for (const std::string& name :
             {std::string{}, std::string(65, 'a'), std::string{"Orders"}, std::string{"orders2"},
              std::string{"my-orders"}, std::string{"my orders"}, std::string{"orders\n"},
              std::string{"orders\0x", 8}, std::string{"\xc3\xa4"}}) {
            s.expect_refused(PublishEvent{.topic = name,
                                          .publisher = shop,
                                          .message = "m",
                                          .timestamp = s.now(),
                                          .uid = s.uid()},
                             "topic");
        }
        s.publish(std::string(64, 'a'));
        s.publish("_");
    });

    add("topics are listed by name and page by page", [](Scenario& s) {
        for (const char* name : {"c", "a", "e", "b", "d"}) s.publish(name);
        const auto names = [&](const Page& page) {
            std::string all;
            for (const auto& topic : s.perform(ListTopics{page})) all += topic.name;
            return all;
        };
        expect_equal(names({}), "abcde", "all topics");
        expect_equal(names({.after = "", .limit = 2}), "ab", "the first page");
        expect_equal(names({.after = "b", .limit = 2}), "cd", "the second page");
        expect_equal(names({.after = "d", .limit = 2}), "e", "the last page");
        expect_equal(names({.after = "e", .limit = 2}), "", "the page after it");
        expect_equal(names({.after = "bb", .limit = 1}), "c", "a page after a name that is not");
        s.expect_refused(ListTopics{{.after = "", .limit = 0}}, "limit");
    });

    add("removing a topic ends its subscriptions", [](Scenario& s) {
        s.subscribe("billing", {"orders", "refunds"});
        s.publish("orders");
        s.advance(Duration{500});
        s.drain();
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::removed, "removing");
        expect_equal(s.subscriber("billing").topics, std::vector<std::string>{"refunds"},
                     "topics of the subscriber");
        expect_equal(s.topics(), std::vector<Topic>{{"refunds", std::nullopt, 0}}, "topics");
        s.publish("orders");
        expect_equal(s.batches("billing"), std::vector<BatchStatus>{},
                     "batches after publishing in a topic of the same name");
    });

    add("events of a removed topic that wait in batches are delivered all the same",
        [](Scenario& s) {
            s.subscribe("billing", {"orders"});
            s.publish("orders", 2);
            s.perform(RemoveTopic{"orders", std::nullopt});
            s.advance(Duration{500});
            s.expect_delivered("billing", {{"orders 1", "orders 2"}});
        });

    add("only its publisher and the operator remove a topic", [](Scenario& s) {
        s.subscribe("billing", {"orders", "unclaimed"});
        s.publish("orders");
        const auto before = s.snapshot();
        expect_equal(s.perform(RemoveTopic{"orders", "other--key"}), Removal::forbidden,
                     "removing as another publisher");
        expect_equal(s.perform(RemoveTopic{"unclaimed", shop}), Removal::forbidden,
                     "removing an unclaimed topic as a publisher");
        expect_unchanged(s.snapshot(), before);
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::removed,
                     "removing as the publisher");
        expect_equal(s.perform(RemoveTopic{"unclaimed", std::nullopt}), Removal::removed,
                     "removing as the operator");
        expect_equal(s.topics(), std::vector<Topic>{}, "topics");
    });

    add("removing a topic that is not there changes nothing", [](Scenario& s) {
        s.publish("orders");
        s.perform(RemoveTopic{"orders", shop});
        s.publish("refunds");
        const auto before = s.snapshot();
        expect_equal(s.perform(RemoveTopic{"orders", shop}), Removal::unknown, "removing again");
        expect_equal(s.perform(RemoveTopic{"", std::nullopt}), Removal::unknown, "removing \"\"");
        expect_unchanged(s.snapshot(), before);
    });

    add("the name of a removed topic is free for another publisher", [](Scenario& s) {
        s.publish("orders", 3);
        s.perform(RemoveTopic{"orders", shop});
        s.publish("orders", 1, {.publisher = "other--key"});
        expect_equal(s.topics(), std::vector<Topic>{{"orders", "other--key", 1}}, "topics");
    });
}

}  // namespace routemaster::testing
