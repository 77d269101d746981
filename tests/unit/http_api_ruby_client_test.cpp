#include "support/http_api_scenario.hpp"

using namespace http_api_test;

// Requests of the Ruby client 3.2.3 and its command line.

namespace {

bool is_success(const rm::HttpResponse& answer) {
    return answer.status >= 200 && answer.status < 300;
}

}  // namespace

TEST_CASE("http api: the Ruby client can configure itself, publish and subscribe") {
    Scenario bus;
    CHECK(is_success(bus.get("/pulse", shop)));
    CHECK(
        is_success(bus.post("/topics/widgets", shop,
                            R"({"type":"create","url":"https://a.example/1","timestamp":null})")));
    CHECK(is_success(
        bus.post("/topics/widgets", shop,
                 R"({"type":"update","url":"https://a.example/1","timestamp":1795222853691,)"
                 R"("data":{"a":1}})")));
    CHECK(is_success(bus.post(
        "/subscription", billing,
        R"({"topics":["widgets","kitten"],"callback":"https://b.example/events",)"
        R"("uuid":"billing--fedcba9876543210fedcba9876543210","timeout":10000,"max":10000})")));
    CHECK(is_success(bus.remove("/subscriber/topics/widgets", billing)));
    CHECK(is_success(bus.remove("/subscriber", billing)));
    CHECK(is_success(bus.remove("/topics/widgets", shop)));
}

TEST_CASE("http api: responses have the keys that the Ruby client reads") {
    Scenario bus;
    CHECK(is_success(bus.post("/topics/widgets", shop,
                              R"({"type":"noop","url":"https://a.example/1","timestamp":null})")));
    CHECK(is_success(bus.post("/subscription", billing,
                              R"({"topics":["widgets"],"callback":"https://b.example/events"})")));
    const auto finds = [&](const char* path, const std::vector<const char*>& keys) {
        for (const char* user : {shop, billing, root}) {
            const auto list = rm::parse_json(bus.get(path, user).body).value();
            const auto* entries = list.get_if<rm::Value::Array>();
            REQUIRE(entries != nullptr);
            REQUIRE(!entries->empty());
            for (const char* key : keys) {
                INFO(path << " " << key);
                const auto* value = entries->front().find(key);
                REQUIRE(value != nullptr);
                CHECK(!value->is_null());
            }
        }
    };
    finds("/topics", {"name", "publisher", "events"});
    finds("/subscriptions",
          {"subscriber", "uuid", "callback", "max_events", "timeout", "topics", "events"});
    for (const char* key : {"sent", "queued", "oldest"}) {
        const auto list = rm::parse_json(bus.get("/subscriptions", shop).body).value();
        const auto* events = list.get_if<rm::Value::Array>()->front().find("events");
        CHECK(events->find(key) != nullptr);
    }
}

TEST_CASE("http api: the Ruby command rtm can add, list and delete tokens") {
    Scenario bus;
    const auto added = bus.post("/api_tokens", root, R"({"name":"audit"})");
    REQUIRE(is_success(added));
    const auto token = *rm::parse_json(added.body).value().find("token")->get_if<std::string>();
    const auto listed = rm::parse_json(bus.get("/api_tokens", root).body).value();
    for (const auto& entry : *listed.get_if<rm::Value::Array>()) {
        CHECK(entry.find("name") != nullptr);
        CHECK(entry.find("token") != nullptr);
    }
    CHECK(is_success(bus.remove("/api_tokens/" + token, root)));
    CHECK(bus.get("/pulse", token).status == 401);
}
