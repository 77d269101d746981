#include "support/http_api_scenario.hpp"

#include <array>

using namespace http_api_test;

namespace {

std::string payload_with(const std::string& more = {}) {
    return R"({"topics":["orders"],"callback":"https://b.example/in")" +
           (more.empty() ? "" : "," + more) + "}";
}

rm::Subscription subscription(Scenario& bus) {
    return done(bus.store, rm::FindSubscriber{billing}).value().subscription;
}

}  // namespace

TEST_CASE("http api: subscribing accepts all settings, under both routes for subscriptions") {
    for (const char* path : {"/subscription", "/subscriber"}) {
        Scenario bus;
        const auto answer = bus.post(
            path, billing,
            R"({"topics":["refunds","orders","refunds"],"callback":"https://b.example/in",)"
            R"("uuid":"secret:1","timeout":0,"max":5,"max_in_flight":3,"attempts_max":12,)"
            R"("age_max":86400000,"dead_max":50})");
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
        CHECK(answer.content_type.empty());
        const auto found = done(bus.store, rm::FindSubscriber{billing}).value();
        CHECK(found.topics == std::vector<std::string>{"orders", "refunds"});
        CHECK(found.subscription == rm::Subscription{.token = billing,
                                                     .callback = "https://b.example/in",
                                                     .uuid = "secret:1",
                                                     .timeout = rm::Duration{0},
                                                     .max_events = 5,
                                                     .max_in_flight = 3,
                                                     .attempts_max = 12,
                                                     .age_max = rm::Duration{86'400'000},
                                                     .dead_max = 50});
        // Topics without publications are created without an owner.
        CHECK(holdings(bus.store).topics.front() == rm::Topic{"orders", std::nullopt, 0});
    }
}

TEST_CASE("http api: settings that a first subscription omits have their defaults") {
    Scenario bus;
    CHECK(bus.post("/subscription", billing, payload_with()).status == 204);
    CHECK(subscription(bus) ==
          rm::Subscription{.token = billing, .callback = "https://b.example/in", .uuid = ""});
}

TEST_CASE("http api: a later subscription keeps omitted numbers, and empties an omitted uuid") {
    Scenario bus;
    const auto all =
        R"("uuid":"u","timeout":3600000,"max":4294967295,"max_in_flight":2,"attempts_max":1000000,)"
        R"("age_max":31536000000,"dead_max":10000)";
    for (const char* more : {"",
                             R"("uuid":null,"timeout":null,"max":null,"max_in_flight":null,)"
                             R"("attempts_max":null,"age_max":null,"dead_max":null)",
                             R"("timeout":false,"max":false,"max_in_flight":false)"}) {
        CHECK(bus.post("/subscription", billing, payload_with(all)).status == 204);
        CHECK(subscription(bus).uuid == "u");
        CHECK(bus.post("/subscription", billing, payload_with(more)).status == 204);
        const auto kept = subscription(bus);
        CHECK(kept.uuid.empty());
        CHECK(kept.timeout == rm::Duration{3'600'000});
        CHECK(kept.max_events == 4'294'967'295U);
        CHECK(kept.max_in_flight == 2);
        CHECK(kept.attempts_max == 1'000'000);
        CHECK(kept.age_max == rm::Duration{31'536'000'000});
        CHECK(kept.dead_max == 10'000);
    }
}

TEST_CASE("http api: a new list of topics replaces the old list, and may be empty") {
    Scenario bus;
    const auto topics = [&](const std::string& list) {
        const auto body = R"({"topics":)" + list + R"(,"callback":"https://b.example"})";
        CHECK(bus.post("/subscription", billing, body).status == 204);
        return done(bus.store, rm::FindSubscriber{billing}).value().topics;
    };
    CHECK(topics(R"(["a","b"])") == std::vector<std::string>{"a", "b"});
    CHECK(topics(R"(["b","c"])") == std::vector<std::string>{"b", "c"});
    CHECK(topics("[]").empty());
}

TEST_CASE(
    "http api: an invalid subscription is refused with the name of the field, and changes "
    "nothing") {
    Scenario bus;
    const auto bad = [&](const std::string& body, const std::string& text) {
        refused(bus, request("POST", "/subscription", billing, body), 400, text);
    };
    SUBCASE("a field is unknown") {
        bad(payload_with(R"("colour":"red")"), R"(bad data in payload: unknown field "colour")");
        bad(payload_with(R"("\u0000\u001b\"":1)"),
            R"(bad data in payload: unknown field "\u0000\u001b\"")");
        bad(payload_with("\"" + std::string(300, 'k') + "\":1"),
            "bad data in payload: unknown field \"" + std::string(64, 'k') + "\"");
    }
    SUBCASE("the topics are invalid") {
        for (const char* topics :
             {"", R"("topics":null,)", R"("topics":"orders",)", R"("topics":{"a":1},)"}) {
            bad("{" + std::string{topics} + R"("callback":"https://b.example"})",
                "need an array of topics");
        }
        for (const char* topic : {R"("Bad")", R"("")", "1", "null", R"(["orders"])", R"("a\n")"}) {
            bad(R"({"topics":["orders",)" + std::string{topic} +
                    R"(],"callback":"https://b.example"})",
                "bad topic: topics[1]: must be a string of 1 to 64 of a-z, 0-9, _, - and ., the "
                "first no - or .");
        }
    }
    SUBCASE("the callback is invalid") {
        const auto bad_callback = [&](const std::string& callback, const std::string& text) {
            bad(R"({"topics":["orders"])" + callback + "}", "callback: " + text);
        };
        bad_callback("", "URL is missing");
        bad_callback(R"(,"callback":null)", "URL is missing");
        bad_callback(R"(,"callback":"")", "URL is missing");
        bad_callback(R"(,"callback":7)", "requires a string");
        bad_callback(R"(,"callback":"http://b.example")", "URL is not HTTPS");
        bad_callback(R"(,"callback":"local:audit")", "URL is not HTTPS");
        bad_callback(R"(,"callback":"local:")", "URL is not HTTPS");
        bad_callback(R"(,"callback":"https://b.example/?a")", "URL has query string");
    }
    SUBCASE("the uuid is invalid") {
        bad(payload_with(R"("uuid":7)"), "uuid: requires a string");
        bad(payload_with(R"("uuid":false)"), "uuid: requires a string");
        bad(payload_with(R"("uuid":"a\u0007")"), "uuid: contains control characters");
        bad(payload_with(R"("uuid":"a\r\nb")"), "uuid: contains control characters");
        bad(payload_with(R"("uuid":"\u007f")"), "uuid: contains control characters");
        bad(payload_with(R"("uuid":")" + std::string(1025, 'u') + "\""),
            "uuid: must be at most 1024 bytes");
    }
    SUBCASE("the timeout is invalid") {
        for (const char* number :
             {"-1", "3600001", "500.0", R"("500")", "true", "[]", "18446744073709551615"}) {
            bad(payload_with(R"("timeout":)" + std::string{number}),
                "timeout: must be an integer from 0 to 3600000");
        }
    }
    SUBCASE("max or max_in_flight is invalid") {
        const std::pair<std::string, std::string> fields[]{{"max", "4294967295"},
                                                           {"max_in_flight", "1000"}};
        for (const auto& [field, most] : fields) {
            for (const char* number : {"0", "-1", "1.5", "4294967296", R"("1")", "true"}) {
                bad(payload_with("\"" + field + "\":" + number),
                    field + ": must be an integer from 1 to " + most);
            }
        }
        bad(payload_with(R"("max_in_flight":1001)"),
            "max_in_flight: must be an integer from 1 to 1000");
    }
    SUBCASE("attempts_max, age_max or dead_max is invalid") {
        const std::array<std::string, 3> fields[]{{"attempts_max", "0", "1000000"},
                                                  {"age_max", "0", "31536000000"},
                                                  {"dead_max", "1", "10000"}};
        for (const auto& [field, least, most] : fields) {
            const auto beyond = std::to_string(std::stoll(most) + 1);
            for (const std::string& number :
                 {std::string{"-1"}, std::string{"1.5"}, beyond, std::string{R"("1")"},
                  std::string{"true"}, std::string{"[]"}}) {
                bad(payload_with("\"" + field + "\":" + number),
                    field + ": must be an integer from " + least + " to " + most);
            }
        }
        bad(payload_with(R"("dead_max":0)"), "dead_max: must be an integer from 1 to 10000");
    }
}

TEST_CASE("http api: the number of a subscriber's topics is limited") {
    auto options = default_options();
    options.topics_max = 2;
    Scenario bus{options};
    const auto body = [](const std::string& topics) {
        return R"({"topics":[)" + topics + R"(],"callback":"https://b.example"})";
    };
    CHECK(bus.post("/subscription", billing, body(R"("a","b")")).status == 204);
    refused(bus, request("POST", "/subscription", billing, body(R"("a","b","c")")), 400,
            "topics: must be at most 2 names");
}

TEST_CASE("http api: subscribers are listed in the order of tokens, under both routes") {
    Scenario bus;
    CHECK(bus.get("/subscribers", root).body == "[]");
    CHECK(
        bus.post("/subscription", shop, R"({"topics":[],"callback":"https://s.example"})").status ==
        204);
    CHECK(bus.post("/subscription", billing,
                   payload_with(R"("uuid":"u","timeout":7,"max":9,"max_in_flight":3,)"
                                R"("attempts_max":4,"age_max":5000,"dead_max":6)"))
              .status == 204);
    const std::string event = R"({"type":"noop","url":"https://shop.example"})";
    CHECK(bus.post("/topics/orders", shop, event).status == 200);
    for (const char* path : {"/subscribers", "/subscriptions"}) {
        const auto answer = bus.get(path, root);
        CHECK(answer.status == 200);
        CHECK(answer.content_type == "application/json");
        CHECK(answer.body ==
              R"([{"subscriber":"billing--fedcba9876543210fedcba9876543210","uuid":"u",)"
              R"("callback":"https://b.example/in","max_events":9,"timeout":7,)"
              R"("topics":["orders"],"events":{"sent":null,"queued":1,"oldest":null},)"
              R"("max_in_flight":3,"attempts_max":4,"age_max":5000,"dead_max":6,"dead":0},)"
              R"({"subscriber":"shop--0123456789abcdef0123456789abcdef","uuid":"",)"
              R"("callback":"https://s.example","max_events":100,"timeout":500,)"
              R"("topics":[],"events":{"sent":null,"queued":0,"oldest":null},)"
              R"("max_in_flight":1,"attempts_max":0,"age_max":0,"dead_max":1000,"dead":0}])");
    }
}

TEST_CASE(
    "http api: the list of subscribers is valid JSON, whatever a callback's user name contains") {
    Scenario bus;
    CHECK(
        bus.post("/subscription", billing, payload_with(R"("uuid":"\"\\ \u00e9 \u2028")")).status ==
        204);
    const auto list = rm::parse_json(bus.get("/subscribers", billing).body);
    REQUIRE(list);
    const auto& entry = list->get_if<rm::Value::Array>()->front();
    CHECK(*entry.find("uuid") == rm::Value{"\"\\ \xc3\xa9 \xe2\x80\xa8"});
}

TEST_CASE("http api: a client can end one of its subscriptions") {
    Scenario bus;
    const std::string path = "/subscriber/topics/orders";
    refused(bus, request("DELETE", path, billing), 404, "subscriber not found");
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    CHECK(bus.post("/subscription", billing,
                   R"({"topics":["orders","refunds"],"callback":"https://b.example"})")
              .status == 204);
    CHECK(bus.remove(path, billing).status == 204);
    CHECK(done(bus.store, rm::FindSubscriber{billing}).value().topics ==
          std::vector<std::string>{"refunds"});
    refused(bus, request("DELETE", path, billing), 404, "not subscribed");
    refused(bus, request("DELETE", "/subscriber/topics/unknown", billing), 404, "topic not found");
    refused(bus, request("DELETE", "/subscriber/topics/Bad-Name", billing), 404, "topic not found");
    refused(bus, request("DELETE", path, shop), 404, "subscriber not found");
    refused(bus, request("DELETE", path, root), 404, "subscriber not found");
}

TEST_CASE("http api: a client can remove only itself as a subscriber") {
    Scenario bus;
    refused(bus, request("DELETE", "/subscriber", billing), 404, "subscriber not found");
    CHECK(bus.post("/subscription", billing, payload_with()).status == 204);
    refused(bus, request("DELETE", "/subscriber", shop), 404, "subscriber not found");
    refused(bus, request("DELETE", "/subscriber", root), 404, "subscriber not found");
    CHECK(bus.remove("/subscriber", billing).status == 204);
    CHECK(holdings(bus.store).subscribers.empty());
    CHECK(bus.get("/subscribers", billing).body == "[]");
}
