#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

/// Makes three DEAD batches of one event each for `billing`, a millisecond apart. Returns their
/// ids.
std::vector<std::string> three_dead(Scenario& bus) {
    CHECK(bus.post("/subscription", billing,
                   R"({"topics":["orders"],"callback":"https://b.example","timeout":0,"max":1,)"
                   R"("attempts_max":5})")
              .status == 204);
    std::vector<std::string> ids;
    for (int i = 1; i <= 3; ++i) {
        CHECK(bus.post("/topics/orders", shop,
                       R"({"type":"update","url":"https://shop.example/)" + std::to_string(i) +
                           R"(","timestamp":7})")
                  .status == 200);
        const auto now = bus.clock.now();
        const auto lease =
            rm::perform(bus.store, rm::AcquireJobs{rm::delivery_queue, rm::Uid{1, 1}, 1}, now)
                .value()
                .leases.at(0);
        const auto start =
            rm::perform(bus.store, rm::BeginDelivery{lease, rm::Duration{0}}, now).value();
        const rm::SettleDelivery step{
            .lease = lease, .begun_at = now, .permanent = true, .error = "HTTP \"410\"\n"};
        CHECK(rm::perform(bus.store, step, now).value() == rm::Settlement::dead);
        ids.emplace_back(start.batch.text());
        bus.clock.advance(rm::Duration{1});
    }
    return ids;
}

std::string entry(const std::string& id, int number) {
    const auto at = std::to_string(rm::to_milliseconds(noon) + number - 1);
    return R"({"uid":")" + id + R"(","created_at":)" + at + R"(,"died_at":)" + at +
           R"(,"attempts":1,"event_count":1,"error":"HTTP \"410\"\u000a")";
}

/// Publishes an event for `billing`, and begins its delivery.
std::pair<rm::Lease, rm::Uid> begun_delivery(Scenario& bus) {
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    const auto now = bus.clock.now();
    const auto lease =
        rm::perform(bus.store, rm::AcquireJobs{rm::delivery_queue, rm::Uid{1, 1}, 1}, now)
            .value()
            .leases.at(0);
    const auto start =
        rm::perform(bus.store, rm::BeginDelivery{lease, rm::Duration{0}}, now).value();
    return {lease, start.batch};
}

/// Subscribes `billing` to orders, and fails `count` simultaneous deliveries. Their error takes
/// three kilobytes of JSON. Returns the ids of the batches.
std::vector<std::string> failures(Scenario& bus, int count, bool permanent) {
    CHECK(bus.post("/subscription", billing,
                   R"({"topics":["orders"],"callback":"https://b.example","timeout":0,"max":1,)"
                   R"("attempts_max":5,"max_in_flight":1000})")
              .status == 204);
    const auto now = bus.clock.now();
    // Each success allows one more batch under way.
    for (int i = 0; i < count; ++i) {
        const auto [lease, batch] = begun_delivery(bus);
        CHECK(rm::perform(bus.store,
                          rm::SettleDelivery{.lease = lease, .delivered = true, .begun_at = now},
                          now));
    }
    std::vector<std::string> ids;
    std::vector<rm::Lease> leases;
    for (int i = 0; i < count; ++i) {
        auto [lease, batch] = begun_delivery(bus);
        leases.push_back(std::move(lease));
        ids.emplace_back(batch.text());
    }
    for (auto at = now; const auto& lease : leases) {
        const rm::SettleDelivery step{.lease = lease,
                                      .begun_at = now,
                                      .retry_at = now + rm::Duration{3'600'000},
                                      .permanent = permanent,
                                      .error = std::string(500, '\1')};
        CHECK(rm::perform(bus.store, step, at));
        at += rm::Duration{1};
    }
    return ids;
}

/// The ids in a response, in order.
std::vector<std::string> ids_in(const rm::HttpResponse& answer) {
    std::vector<std::string> ids;
    const auto parsed = rm::parse_json(answer.body).value();
    for (const auto& batch : *parsed.get_if<rm::Value::Array>()) {
        ids.push_back(*batch.find("uid")->get_if<std::string>());
    }
    return ids;
}

const std::string everybody = std::string{"/subscribers/"} + billing + "/dead";

rm::SubscriberStatus status(Scenario& bus) {
    return done(bus.store, rm::FindSubscriber{billing}).value();
}

}  // namespace

TEST_CASE("http api: DEAD batches are listed in pages") {
    Scenario bus;
    const auto ids = three_dead(bus);
    const auto first = bus.get("/subscriber/dead?limit=2", billing);
    CHECK(first.body == "[" + entry(ids[0], 1) + "}," + entry(ids[1], 2) + "}]");
    CHECK(header(first, "Link") == "</subscriber/dead?after=" + ids[1] + "&limit=2>; rel=\"next\"");
    const auto rest = bus.get("/subscriber/dead?limit=2&after=" + ids[1], billing);
    CHECK(rest.body == "[" + entry(ids[2], 3) + "}]");
    CHECK(header(rest, "Link").empty());
    CHECK(bus.get(everybody + "?limit=3", root).body.size() > rest.body.size());
    refused(bus, request("GET", "/subscriber/dead?limit=0", billing), 400,
            "limit: must be an integer from 1 to 1000");
    refused(bus, request("GET", "/subscriber/dead?after=x", billing), 400,
            "after: must be the uid of a DEAD batch");
    CHECK(bus.remove("/subscriber/dead/" + ids[1], billing).status == 204);
    refused(bus, request("GET", "/subscriber/dead?after=" + ids[1], billing), 400,
            "after: is not a DEAD batch of the subscriber");
}

TEST_CASE("http api: pages of batches with long errors end at a mebibyte") {
    Scenario bus;
    bool dead = false;
    SUBCASE("the batches are DEAD") { dead = true; }
    SUBCASE("the batches are queued") {}
    const std::string path = dead ? "/subscriber/dead" : "/v1/subscriber/batches";
    const auto ids = failures(bus, 400, dead);
    const auto first = bus.get(path, billing);
    const auto listed = ids_in(first);
    REQUIRE(listed.size() < ids.size());
    CHECK(first.body.size() > 1U << 20U);
    CHECK(first.body.size() < (1U << 20U) + 5'000);
    CHECK(header(first, "Link") ==
          "<" + path + "?after=" + listed.back() + "&limit=1000>; rel=\"next\"");
    auto all = listed;
    const auto rest = ids_in(bus.get(path + "?after=" + listed.back(), billing));
    all.insert(all.end(), rest.begin(), rest.end());
    CHECK(all == ids);
}

TEST_CASE("http api: the events of a large DEAD batch are produced in parts") {
    Scenario bus;
    CHECK(bus.post("/subscription", billing,
                   R"({"topics":["orders"],"callback":"https://b.example","timeout":0,"max":17,)"
                   R"("attempts_max":5})")
              .status == 204);
    // Each byte becomes six bytes of JSON.
    const std::string data(60'000, '\1');
    std::string body{R"({"type":"update","url":"https://shop.example/1","data":)"};
    rm::append_json(body, rm::Value{rm::Value::Map{{"x", data}}});
    for (int i = 0; i < 17; ++i) CHECK(bus.post("/topics/orders", shop, body + "}").status == 200);
    const auto now = bus.clock.now();
    const auto lease =
        rm::perform(bus.store, rm::AcquireJobs{rm::delivery_queue, rm::Uid{1, 1}, 1}, now)
            .value()
            .leases.at(0);
    const auto start =
        rm::perform(bus.store, rm::BeginDelivery{lease, rm::Duration{0}}, now).value();
    CHECK(rm::perform(bus.store,
                      rm::SettleDelivery{
                          .lease = lease, .begun_at = now, .permanent = true, .error = "HTTP 410"},
                      now)
              .value() == rm::Settlement::dead);

    auto answer = bus.get("/subscriber/dead/" + std::string{start.batch.text()}, billing);
    CHECK(answer.status == 200);
    REQUIRE(answer.rest);
    CHECK(answer.body.size() < 1'000);
    CHECK(answer.rest_bytes > 1'000'000);
    CHECK(answer.rest_bytes < 2'000'000);
    auto whole = answer.body;
    for (bool more = true; more;) {
        std::string part;
        more = answer.rest(part);
        CHECK(part.size() < 500'000);
        REQUIRE(!part.empty());
        whole += part;
    }
    const auto parsed = rm::parse_json(whole).value();
    CHECK(*parsed.find("undecodable") == rm::Value{0});
    const auto& events = *parsed.find("events")->get_if<rm::Value::Array>();
    REQUIRE(events.size() == 17);
    for (const auto& event : events) CHECK(*event.find("data")->find("x") == rm::Value{data});
}

TEST_CASE("http api: a client sees its own DEAD batches, and root sees all") {
    Scenario bus;
    CHECK(bus.get("/subscriber/dead", billing).body == "[]");
    const auto ids = three_dead(bus);
    const auto all =
        "[" + entry(ids[0], 1) + "}," + entry(ids[1], 2) + "}," + entry(ids[2], 3) + "}]";
    const auto one = entry(ids[1], 2) +
                     R"(,"events":[{"topic":"orders","type":"update",)"
                     R"("url":"https://shop.example/2","t":7}],"undecodable":0})";
    const auto own = bus.get("/subscriber/dead", billing);
    CHECK(own.status == 200);
    CHECK(own.content_type == "application/json");
    CHECK(own.body == all);
    CHECK(bus.get(everybody, root).body == all);
    CHECK(bus.get("/subscriber/dead/" + ids[1], billing).body == one);
    CHECK(bus.get(everybody + "/" + ids[1], root).body == one);
    CHECK(rm::parse_json(one));
    CHECK(bus.get("/subscriber/dead", shop).body == "[]");
    CHECK(bus.get("/subscribers", billing).body.find(R"("dead":3})") != std::string::npos);
}

TEST_CASE("http api: a DEAD batch is redelivered by its id") {
    Scenario bus;
    const auto ids = three_dead(bus);
    const auto answer = bus.post("/subscriber/dead/" + ids[0] + "/redeliver", billing, "");
    CHECK(answer.status == 204);
    CHECK(answer.body.empty());
    CHECK(status(bus).batches_queued == 1);
    CHECK(bus.post(everybody + "/" + ids[1] + "/redeliver", root, "").status == 204);
    CHECK(status(bus).batches_queued == 2);
    CHECK(status(bus).batches_dead == 1);
    refused(bus, request("POST", "/subscriber/dead/" + ids[0] + "/redeliver", billing), 404,
            "dead batch not found");
}

TEST_CASE("http api: all DEAD batches are redelivered") {
    for (const bool by_root : {false, true}) {
        Scenario bus;
        three_dead(bus);
        const auto path = by_root ? everybody : std::string{"/subscriber/dead"};
        const auto* user = by_root ? root : billing;
        const auto answer = bus.post(path + "/redeliver", user, "");
        CHECK(answer.status == 200);
        CHECK(answer.body == R"({"batches":3})");
        CHECK(status(bus).batches_queued == 3);
        CHECK(bus.post(path + "/redeliver", user, "").body == R"({"batches":0})");
    }
}

TEST_CASE("http api: one DEAD batch is dropped, or all DEAD batches") {
    for (const bool by_root : {false, true}) {
        Scenario bus;
        const auto ids = three_dead(bus);
        const auto path = by_root ? everybody : std::string{"/subscriber/dead"};
        const auto* user = by_root ? root : billing;
        CHECK(bus.remove(path + "/" + ids[1], user).status == 204);
        CHECK(status(bus).batches_dead == 2);
        refused(bus, request("DELETE", path + "/" + ids[1], user), 404, "dead batch not found");
        const auto answer = bus.remove(path, user);
        CHECK(answer.status == 200);
        CHECK(answer.body == R"({"batches":2,"events":2})");
        CHECK(status(bus).batches_dead == 0);
        CHECK(status(bus).batches_queued == 0);
    }
}

TEST_CASE("http api: no client can manage the DEAD batches of another client") {
    Scenario bus;
    const auto ids = three_dead(bus);
    for (const std::string method : {"GET", "DELETE"}) {
        refused(bus, request(method, "/subscriber/dead/" + ids[0], shop), 404,
                "dead batch not found");
    }
    refused(bus, request("POST", "/subscriber/dead/" + ids[0] + "/redeliver", shop), 404,
            "dead batch not found");
    CHECK(bus.post("/subscriber/dead/redeliver", shop, "").body == R"({"batches":0})");
    CHECK(bus.remove("/subscriber/dead", shop).body == R"({"batches":0,"events":0})");
    CHECK(status(bus).batches_dead == 3);
    const auto only = [](const char* who) {
        return std::string{"this endpoint requires authentication with "} + who;
    };
    for (const std::string path : {"", "/redeliver"}) {
        const auto method = path.empty() ? "DELETE" : "POST";
        refused(bus, request(method, everybody + path, billing), 401, only("a root token"));
        refused(bus, request(method, "/subscriber/dead" + path, root), 401, only("a client token"));
    }
}

TEST_CASE("http api: an id that is not the id of a DEAD batch is not found") {
    Scenario bus;
    three_dead(bus);
    for (const std::string id : {"x", "AAAAAAAAAAAAAAAAAAAA", "%41", "redeliver"}) {
        refused(bus, request("GET", "/subscriber/dead/" + id, billing), 404,
                "dead batch not found");
        refused(bus, request("GET", "/subscribers/nobody/dead/" + id, root), 404,
                "dead batch not found");
    }
    for (const std::string path :
         {"/subscriber/dead/", "/subscriber/dead//redeliver", "/subscribers//dead",
          "/subscriber/dead/x/y", "/subscribers/x/dead/y/redeliver/z"}) {
        CHECK(bus.post(path, billing, "").status == 404);
        CHECK(bus.post(path, billing, "").body.empty());
    }
}

TEST_CASE("http api: a missing subscriber is not found, and has no DEAD batches") {
    Scenario bus;
    CHECK(bus.post("/subscription", billing, R"({"topics":[],"callback":"https://b.example"})")
              .status == 204);
    const std::string nobody = "/subscribers/nobody/dead";
    refused(bus, request("GET", nobody, root), 404, "subscriber not found");
    refused(bus, request("POST", nobody + "/redeliver", root), 404, "subscriber not found");
    refused(bus, request("DELETE", nobody, root), 404, "subscriber not found");
    CHECK(bus.get(everybody, root).body == "[]");
    CHECK(bus.post(everybody + "/redeliver", root, "").body == R"({"batches":0})");
    CHECK(bus.remove(everybody, root).body == R"({"batches":0,"events":0})");
    // Before a client subscribes, its list is empty.
    CHECK(bus.get("/subscriber/dead", shop).body == "[]");
}
