#include <memory>
#include <string>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/delayer.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/timer_requests.hpp"
#include "support/hand_runner.hpp"
#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

const std::string calls_path = "/v1/timers/calls";

/// A bus with timer requests that the test polls.
struct TimerScenario {
    std::shared_ptr<std::vector<rm::HttpResponse>> send(const std::string& method,
                                                        const std::string& path,
                                                        std::string body = {}) {
        const auto answers = std::make_shared<std::vector<rm::HttpResponse>>();
        api.handle(request(method, path, root, std::move(body)),
                   [answers](rm::HttpResponse answer) { answers->push_back(std::move(answer)); });
        run();
        return answers;
    }

    rm::HttpResponse ask(const std::string& method, const std::string& path,
                         std::string body = {}) {
        const auto answers = send(method, path, std::move(body));
        REQUIRE(answers->size() == 1);
        return answers->front();
    }
    rm::HttpResponse get(const std::string& path) { return ask("GET", path); }
    rm::HttpResponse post(const std::string& path, std::string body = {}) {
        return ask("POST", path, std::move(body));
    }

    void run() { runner.run(clock.now()); }

    void run_for(rm::Duration span) {
        const auto end = clock.now() + span;
        for (run(); runner.next() < end; run()) clock.set(runner.next());
        clock.set(end);
        run();
    }

    rm::testing::ManualClock clock{noon};
    rm::MemoryStore store;
    rm::Delayer calls{store, "calls", clock};
    rm::TimerRequests timers{store};
    rm::HttpApi api{store, {.root_key = root, .clock = &clock, .timers = &timers}};
    rm::test::HandRunner runner{timers};
};

std::string at(rm::Duration later) { return std::to_string(rm::to_milliseconds(noon + later)); }

}  // namespace

TEST_CASE("http api: a timer is posted, shown, postponed and cancelled") {
    TimerScenario bus;
    CHECK(bus.post(calls_path,
                   R"({"payload":{"to":["Ada",1]},"delay":1500,"id":"a","retries_max":2})")
              .body == R"({"id":"a","outcome":"posted"})");
    const auto shown = bus.get(calls_path + "/a");
    CHECK(shown.status == 200);
    CHECK(shown.body == R"({"id":"a","state":"pending","at":)" + at(rm::Duration{1'500}) +
                            R"(,"retries":0,"retries_max":2,"payload":{"to":["Ada",1]}})");
    CHECK(bus.post(calls_path, R"({"payload":null,"at":)" + at(rm::Duration{9}) + R"(,"id":"a"})")
              .body == R"({"id":"a","outcome":"replaced"})");
    CHECK(bus.calls.peek("a").value()->at == noon + rm::Duration{9});
    CHECK(bus.post(calls_path + "/postpone", R"({"id":"a","delay":70})").status == 204);
    CHECK(bus.calls.peek("a").value()->at == noon + rm::Duration{70});
    CHECK(bus.post(calls_path + "/postpone", R"({"id":"b","delay":70})").status == 404);
    CHECK(bus.ask("DELETE", calls_path + "/a").status == 204);
    CHECK(bus.ask("DELETE", calls_path + "/a").status == 404);
    CHECK(bus.get(calls_path + "/a").body == "timer not found");
    // A timer without an id gets a new id. A timer without a time is due now.
    CHECK(bus.post(calls_path, R"({"payload":7})").body.size() > 40);
    CHECK(bus.calls.upcoming().value().at(0).at == noon);
}

TEST_CASE("http api: the id of a timer may contain slashes, and equal any word of a route") {
    TimerScenario bus;
    for (const std::string id : {"orders/42/remind", "take", "a//b/", "post one"}) {
        CHECK(bus.post(calls_path, R"({"payload":1,"delay":9,"id":")" + id + "\"}").status == 200);
        CHECK(bus.get(calls_path + "/" + id).status == 200);
        CHECK(bus.ask("DELETE", calls_path + "/" + id).status == 204);
    }
    CHECK(bus.get(calls_path + "/").status == 404);
}

TEST_CASE("http api: many timers are posted in one request") {
    TimerScenario bus;
    const auto answer = bus.post(calls_path, R"([{"payload":1,"id":"a"},{"payload":2,"id":"a"}])");
    CHECK(answer.status == 200);
    CHECK(answer.body == R"([{"id":"a","outcome":"posted"},{"id":"a","outcome":"replaced"}])");
    const auto refused = bus.post(calls_path, R"([{"payload":1,"id":"b"},{"payload":2,"id":""}])");
    CHECK(refused.status == 400);
    CHECK(refused.body == "timers[1]: id: must not be empty");
    CHECK(bus.calls.counts().value().pending == 1);
}

TEST_CASE("http api: timers are listed by their state, page by page, and counted") {
    TimerScenario bus;
    for (const char* id : {"c", "a/1", "b"}) {
        CHECK(bus.calls.post(id, rm::Duration{100}, {.id = id}));
    }
    auto answer = bus.get(calls_path + "?limit=2");
    CHECK(answer.body.starts_with(R"([{"id":"a/1",)"));
    CHECK(answer.body.find(R"({"id":"b",)") != std::string::npos);
    auto link = header(answer, "Link");
    REQUIRE(link.starts_with("<" + calls_path + "?state=pending&from="));
    answer = bus.get(link.substr(1, link.find('>') - 1));
    CHECK(answer.body.starts_with(R"([{"id":"c",)"));
    CHECK(header(answer, "Link").empty());
    CHECK(bus.get(calls_path + "?state=fired").body == "[]");
    CHECK(bus.get(calls_path + "?state=gone").status == 400);
    CHECK(bus.get("/v1/timer_counts/calls").body ==
          R"({"pending":3,"fired":0,"dead":0,"listeners":0,"next_due":)" + at(rm::Duration{100}) +
              "}");
    CHECK(bus.get("/v1/timer_explanations/calls/a/1")
              .body.starts_with(
                  R"({"text":"it is due in 0 s; no listener of its namespace asks for timers",)"
                  R"("counts":{"pending":3,"fired":0,"dead":0,"listeners":0,"next_due":)"));
    for (const char* id : {"a/1", "b"}) {
        const std::string path = "/calls/" + std::string{id};
        CHECK(bus.get("/v1/timer_explanations" + path)
                  .body.ends_with(R"(,"timer":)" + bus.get("/v1/timers" + path).body + "}"));
    }
    CHECK(bus.get("/v1/timer_explanations/calls/none").status == 404);
    CHECK(bus.get("/v1/timer_counts/none").body ==
          R"({"pending":0,"fired":0,"dead":0,"listeners":0,"next_due":null})");
}

TEST_CASE("http api: FIRED timers are listed, taken and shown with their own settings") {
    TimerScenario bus;
    CHECK(bus.calls.post(rm::Value{1}, rm::Duration{0}, {.id = "a", .retries_max = 1}));
    CHECK(bus.calls.post(rm::Value{"two"}, rm::Duration{5}, {.id = "b", .retries_max = 2}));
    CHECK(bus.calls.post(rm::Value{3}, rm::Duration{60'000}, {.id = "c", .retries_max = 3}));
    bus.clock.advance(rm::Duration{5});
    const auto take = [&](int retries, rm::Duration first_due, rm::Duration second_due) {
        const auto body =
            bus.post(calls_path + "/take", R"({"limit":2,"confirm_within":100})").body;
        CAPTURE(body);
        const auto shown = [&](const char* id, const char* payload, int most, rm::Duration due) {
            return R"({"id":")" + std::string{id} + R"(","payload":)" + payload + R"(,"due_at":)" +
                   at(due) + R"(,"retries":)" + std::to_string(retries) + R"(,"retries_max":)" +
                   std::to_string(most) + ',';
        };
        CHECK(body.find(shown("a", "1", 1, first_due)) != std::string::npos);
        CHECK(body.find(shown("b", R"("two")", 2, second_due)) != std::string::npos);
    };
    take(0, rm::Duration{0}, rm::Duration{5});
    const auto listed = bus.get(calls_path + "?state=fired").body;
    CHECK(listed == R"([{"id":"a","state":"fired","at":)" + at(rm::Duration{105}) +
                        R"(,"retries":0,"retries_max":1,"payload":1},{"id":"b","state":"fired",)" +
                        R"("at":)" + at(rm::Duration{105}) +
                        R"(,"retries":0,"retries_max":2,"payload":"two"}])");
    CHECK(
        bus.get("/v1/timer_counts/calls").body.starts_with(R"({"pending":1,"fired":2,"dead":0,)"));
    bus.clock.advance(rm::Duration{100});
    take(1, rm::Duration{105}, rm::Duration{105});
    CHECK(bus.get(calls_path + "/b").body ==
          R"({"id":"b","state":"fired","at":)" + at(rm::Duration{205}) +
              R"(,"retries":1,"retries_max":2,"payload":"two"})");
    const auto pending = bus.get(calls_path).body;
    CHECK(pending == R"([{"id":"c","state":"pending","at":)" + at(rm::Duration{60'000}) +
                         R"(,"retries":0,"retries_max":3,"payload":3}])");
}

TEST_CASE("http api: all timers are listed, whatever their payloads contain") {
    TimerScenario bus;
    for (int i = 0; i < 100; ++i) {
        const auto id = std::to_string(100 + i);
        CHECK(bus.calls.post(rm::Value{std::string(65'000, 'x')}, rm::Duration{100}, {.id = id}));
    }
    int listed = 0;
    auto path = calls_path + "?limit=100";
    while (!path.empty()) {
        const auto answer = bus.get(path);
        REQUIRE(answer.status == 200);
        for (auto at = answer.body.find(R"({"id":"1)"); at != std::string::npos;
             at = answer.body.find(R"({"id":"1)", at + 1)) {
            ++listed;
        }
        const auto link = header(answer, "Link");
        path = link.empty() ? link : link.substr(1, link.find('>') - 1);
    }
    CHECK(listed == 100);
}

TEST_CASE("http api: a timer is taken with a long poll, and confirmed") {
    TimerScenario bus;
    const auto waiting =
        bus.send("POST", calls_path + "/take", R"({"wait":30000,"confirm_within":2000})");
    CHECK(waiting->empty());
    CHECK(bus.calls.post("a", rm::Duration{1'000}, {.id = "a", .retries_max = 1}));
    bus.run_for(rm::Duration{1'000});
    REQUIRE(waiting->size() == 1);
    CHECK(waiting->front().body ==
          R"({"timers":[{"id":"a","payload":"a","due_at":)" + at(rm::Duration{1'000}) +
              R"(,"retries":0,"retries_max":1,"confirm_by":)" + at(rm::Duration{3'000}) +
              ",\"firing\":" + at(rm::Duration{3'000}) + "}]}");
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a","retries":1})").status == 409);
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a","retries":0})").status == 204);
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a"})").status == 409);
    CHECK(bus.post(calls_path + "/take").body == R"({"timers":[]})");
    CHECK(bus.calls.post("once", rm::Duration{0}, {.id = "once"}));
    CHECK(
        bus.post(calls_path + "/take", "{}").body.ends_with(R"("confirm_by":null,"firing":0}]})"));
}

TEST_CASE("http api: a confirmation of a timer can add follow-up jobs, events and timers") {
    TimerScenario bus;
    rm::Bus events{bus.store, {.clock = &bus.clock}};
    REQUIRE(events.subscriber("billing").subscribe(
        {"orders"}, {.callback = "https://billing.example/", .timeout = rm::Duration{0}}));
    CHECK(bus.calls.post("a", rm::Duration{0}, {.id = "a", .retries_max = 1}));
    bus.post(calls_path + "/take");
    const std::string follow_ups =
        R"("pushes":[{"queue":"mail","name":"welcome"}],
           "publications":[{"topic":"orders","type":"update","url":"https://shop.example/1"}],
           "timers":[{"namespace":"calls","payload":1,"id":"next","delay":50}]})";
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a",)" + follow_ups).body ==
          "retries: is missing");
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a","retries":1,)" + follow_ups).status ==
          409);
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a","retries":0,"timers":[{"payload":1}]})")
              .body == "timers[0]: namespace: is missing");
    CHECK(bus.calls.counts().value().fired == 1);
    CHECK(bus.post(calls_path + "/confirm", R"({"id":"a","retries":0,)" + follow_ups).status ==
          204);
    CHECK(rm::JobQueue(bus.store, "mail").status().value() == rm::QueueStatus{.ready = 1});
    CHECK(events.subscriber("billing").status().value()->events_queued == 1);
    CHECK(bus.calls.peek("next").value()->at == noon + rm::Duration{50});
    CHECK(bus.calls.counts().value().fired == 0);
}

TEST_CASE("http api: DEAD timers are listed, posted again and dropped") {
    TimerScenario bus;
    for (const char* id : {"a", "b", "c"}) {
        CHECK(bus.calls.post(id, rm::Duration{0}, {.id = id, .retries_max = 1}));
    }
    const auto take = R"({"limit":10,"confirm_within":10})";
    for (int i = 0; i < 3; ++i) {
        bus.post(calls_path + "/take", take);
        bus.clock.advance(rm::Duration{20});
    }
    CHECK(bus.get("/v1/timer_counts/calls").body ==
          R"({"pending":0,"fired":0,"dead":3,"listeners":1,"next_due":null})");
    CHECK(bus.get(calls_path + "?state=dead").body.find(R"("state":"dead")") != std::string::npos);
    CHECK(bus.post(calls_path + "/repost", R"({"id":"a"})").body == R"({"timers":1})");
    CHECK(bus.post(calls_path + "/drop", R"({"id":"a"})").body == R"({"timers":0})");
    CHECK(bus.post(calls_path + "/drop", R"({"id":"b"})").body == R"({"timers":1})");
    CHECK(bus.post(calls_path + "/repost").body == R"({"timers":1})");
    CHECK(bus.post(calls_path + "/drop", "{}").body == R"({"timers":0})");
    CHECK(bus.calls.counts().value().pending == 2);
}

TEST_CASE("http api: invalid requests about timers are refused, and change nothing") {
    TimerScenario bus;
    const auto refused = [&](const std::string& path, const std::string& body,
                             const std::string& problem) {
        INFO(path << " " << body);
        const auto answer = bus.post(calls_path + path, body);
        CHECK(answer.status == 400);
        CHECK(answer.body == problem);
        CHECK(bus.calls.counts().value() == rm::TimerCounts{});
    };
    refused("", "7", "JSON: must be an object");
    refused("", "{}", "payload: is missing");
    refused("", R"({"payload":1,"delay":"1"})",
            "delay: must be an integer from 0 to 31536000000000");
    refused("", R"({"payload":1,"delay":1,"at":1})", "at: cannot be combined with delay");
    refused("", R"({"payload":1,"at":-1})", "at: must be an integer from 0 to 9007199254740991");
    refused("", R"({"payload":1,"id":7})", "id: requires a string");
    refused("", R"({"payload":1,"id":""})", "id: must not be empty");
    refused("", R"({"payload":1,"retries_max":1000001})",
            "retries_max: must be an integer from 0 to 1000000");
    refused("", R"({"payload":1,"often":1})", R"(unknown field "often")");
    refused("/postpone", R"({"id":"a"})", "delay: is missing");
    refused("/postpone", R"({"delay":1})", "id: is missing");
    refused("/confirm", "{}", "id: is missing");
    refused("/confirm", R"({"id":""})", "id: must have 1 to 256 bytes");
    refused("/postpone", R"({"id":"","delay":1})", "id: must have 1 to 256 bytes");
    refused("/take", R"({"limit":101})", "limit: must be an integer from 1 to 100");
    refused("/take", R"({"wait":30001})", "wait: must be an integer from 0 to 30000");
    refused("/take", R"({"confirm_within":0})",
            "confirm_within: must be an integer from 1 to 31622400000");
    refused("/repost", R"({"all":true})", R"(unknown field "all")");
    CHECK(bus.post("/v1/timers/no space", R"({"payload":1})").status == 400);
    CHECK(bus.post("/v1/timers/no space/take").status == 400);
    // Only root may use timers.
    const auto answers = std::make_shared<int>(0);
    bus.api.handle(request("POST", calls_path, shop, R"({"payload":1})"),
                   [answers](const rm::HttpResponse& answer) { *answers = answer.status; });
    CHECK(*answers == 401);
}
