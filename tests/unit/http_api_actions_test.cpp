#include <string>

#include "routemaster/action_runner.hpp"
#include "routemaster/action_timers.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/hand_runner.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string actions_path = "/v1/timers/routemaster.actions";

/// A bus with an action runner that the test polls.
struct ActionScenario {
    rm::HttpResponse ask(const std::string& method, const std::string& path, std::string body = {},
                         const std::string& user = root) {
        rm::HttpResponse answer;
        int answers = 0;
        api.handle(request(method, path, user, std::move(body)), [&](rm::HttpResponse given) {
            answer = std::move(given);
            ++answers;
        });
        taking.run(clock.now());
        REQUIRE(answers == 1);
        return answer;
    }
    rm::HttpResponse post(std::string body) { return ask("POST", "/v1/actions", std::move(body)); }

    void run_for(rm::Duration span) {
        const auto end = clock.now() + span;
        for (acting.run(clock.now()); acting.next() < end; acting.run(clock.now())) {
            clock.set(acting.next());
        }
        clock.set(end);
        acting.run(end);
    }

    void subscribe(const std::string& token) {
        bus.subscriber(token)
            .subscribe({"refunds"}, {.callback = "https://receiver.example/"})
            .value();
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::ActionTimers actions{store, clock};
    rm::JobQueue images{store, "images", clock};
    rm::Bus bus{store, {.clock = &clock}};
    rm::TimerRequests timers{store};
    rm::HttpApi api{store,
                    {.root_key = root,
                     .topics_max = 1,
                     .job_bytes_max = 100,
                     .clock = &clock,
                     .timers = &timers}};
    rm::ActionRunner runner{store, {.clock = &clock}};
    rm::test::HandRunner taking{timers};
    rm::test::HandRunner acting{runner};
};

}  // namespace

TEST_CASE("http api: a job to be pushed at a later time is a timer until then") {
    ActionScenario bus;
    const std::string push = R"({"push":{"queue":"images","name":"resize","arguments":[42]})";
    CHECK(bus.post(push + R"(,"delay":1500,"id":"a/1"})").body ==
          R"({"id":"a/1","outcome":"posted"})");
    const auto shown = bus.ask("GET", actions_path + "/a/1");
    CHECK(shown.status == 200);
    CHECK(shown.body.ends_with(R"("payload":)" + push + "}}"));
    CHECK(shown.body.find(R"("at":)" + std::to_string(rm::to_milliseconds(noon) + 1'500)) !=
          std::string::npos);
    CHECK(bus.ask("GET", "/v1/timer_counts/routemaster.actions")
              .body.starts_with(R"({"pending":1,"fired":0,"dead":0,)"));
    CHECK(bus.ask("POST", actions_path + "/postpone", R"({"id":"a/1","delay":2000})").status ==
          204);
    bus.run_for(rm::Duration{1'999});
    CHECK(bus.images.status().value().ready == 0);
    bus.run_for(rm::Duration{1});
    CHECK(bus.images.status().value().ready == 1);
    CHECK(bus.ask("GET", actions_path + "/a/1").status == 404);
    // Without a time, the action is due now.
    CHECK(bus.post(R"({"push":{"queue":"images","name":"crop"}})").status == 200);
    bus.run_for(rm::Duration{0});
    CHECK(bus.images.status().value().ready == 2);
}

TEST_CASE("http api: an event can be published, or delivered to one subscriber, at a later time") {
    ActionScenario bus;
    bus.subscribe("billing");
    bus.subscribe("audit");
    const auto events = [&](const std::string& token) {
        return bus.bus.subscriber(token).status().value()->events_queued;
    };
    const auto at = std::to_string(rm::to_milliseconds(noon) + 50);
    CHECK(bus.post(R"({"publish":{"topic":"refunds","type":"update",)"
                   R"("url":"https://shop.example/1"},"at":)" +
                   at + "}")
              .status == 200);
    CHECK(bus.post(R"({"deliver":{"subscriber":"billing","data":{"order":42}},"at":)" + at + "}")
              .status == 200);
    bus.run_for(rm::Duration{49});
    CHECK(events("billing") == 0);
    bus.run_for(rm::Duration{1});
    CHECK(events("billing") == 2);
    CHECK(events("audit") == 1);
}

TEST_CASE("http api: the publisher of a later event must still be a client at that time") {
    ActionScenario bus;
    const auto publish = [&](const std::string& topic) {
        const auto answer =
            bus.post(R"({"publish":{"topic":")" + topic +
                     R"(","type":"noop","url":"https://shop.example/1","publisher":"shop",)"
                     R"("authenticate":false,"topics_max":9}})");
        CHECK(answer.status == 200);
        bus.run_for(rm::Duration{10});
    };
    publish("orders");
    CHECK(bus.actions.counts().value().dead == 1);
    CHECK(bus.ask("GET", actions_path + "?state=dead")
              .body.find(R"("reason":"publish: publisher: is not a valid token)") !=
          std::string::npos);
    rm::perform(bus.store, rm::PutToken{"shop", "shop"}, bus.clock.now()).value();
    publish("orders");
    CHECK(bus.actions.counts().value().dead == 1);
    // The publisher may own one topic.
    publish("refunds");
    CHECK(bus.actions.counts().value().dead == 2);
}

TEST_CASE("http api: an invalid action is refused") {
    ActionScenario bus;
    const auto refused = [&](const std::string& body) {
        const auto answer = bus.post(body);
        CHECK(answer.status == 400);
        return answer.body;
    };
    CHECK(refused("{}").starts_with("action:"));
    CHECK(refused(R"({"push":{},"publish":{}})").starts_with("action:"));
    CHECK(refused(R"({"push":{"queue":"q","name":"n"},"namespace":"x"})")
              .find("unknown field \"namespace\"") != std::string::npos);
    CHECK(refused(R"({"push":{"queue":"main","name":"n"}})").starts_with("push: queue:"));
    CHECK(refused(R"({"push":{"queue":"q","name":")" + std::string(200, 'n') + R"("}})")
              .starts_with("push: job:"));
    CHECK(refused(R"({"push":{"queue":"q","name":"n"},"id":""})") == "id: must not be empty");
    CHECK(refused(R"({"push":{"queue":"q","name":"n"},"delay":1,"at":2})").starts_with("at:"));
    // The event rules of this bus apply.
    CHECK(refused(R"({"publish":{"topic":"orders","type":"noop","url":"http://shop.example/"}})")
              .starts_with("publish: url:"));
    CHECK(refused(R"({"publish":{"topic":"orders","type":"noop","data":{}}})")
              .starts_with("publish: url:"));
    CHECK(refused(R"({"deliver":{"subscriber":"billing","url":"http://shop.example/"}})")
              .starts_with("deliver: url:"));
    CHECK(bus.actions.counts().value().pending == 0);
    CHECK(bus.ask("POST", "/v1/actions", "{}", shop).status == 401);
}

TEST_CASE(
    "http api: the namespace of actions accepts only actions, and clients cannot take its timers") {
    ActionScenario bus;
    const std::string timer = R"({"payload":{"push":{"queue":"q","name":"n"}},"retries_max":1})";
    CHECK(bus.ask("POST", actions_path, timer).body.starts_with("namespace:"));
    CHECK(bus.ask("POST", actions_path, "[" + timer + "]").body.starts_with("namespace:"));
    CHECK(bus.ask("POST", actions_path + "/take").status == 400);
    const auto followed =
        bus.ask("POST", "/v1/timers/calls/confirm",
                R"({"id":"a","retries":0,"timers":[{"namespace":"routemaster.actions",)"
                R"("payload":{"push":{"queue":"q","name":"n"}},"retries_max":1}]})");
    CHECK(followed.status == 400);
    CHECK(followed.body.starts_with("timers[0]: namespace:"));
}
