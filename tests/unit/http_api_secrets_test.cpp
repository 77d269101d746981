#include "support/http_api_scenario.hpp"

using namespace http_api_test;

namespace {

std::string payload_for(const std::string& callback) {
    return R"({"topics":["orders"],"uuid":"password","callback":")" + callback + R"("})";
}

/// The first entry of a list.
rm::Value first(const rm::HttpResponse& answer) {
    REQUIRE(answer.status == 200);
    return rm::parse_json(answer.body).value().get_if<rm::Value::Array>()->front();
}

rm::Value text(const char* words) { return rm::Value{words}; }

}  // namespace

TEST_CASE("http api: only the publisher and root see the publisher's token in full") {
    Scenario bus;
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    CHECK(*first(bus.get("/topics", shop)).find("publisher") == text(shop));
    CHECK(*first(bus.get("/topics", root)).find("publisher") == text(shop));
    CHECK(*first(bus.get("/topics", billing)).find("publisher") == text("shop"));
}

TEST_CASE("http api: a token without a public part is hidden") {
    Scenario bus;
    for (const char* token : {"legacy", "--abc", "a-b_c"}) {
        done(bus.store, rm::PutToken{token, "old"});
        const auto topic = "/topics/" + std::string(token[0] == 'l' ? "l" : "x");
        static_cast<void>(bus.remove("/topics/x", root));
        static_cast<void>(bus.remove("/topics/l", root));
        CHECK(bus.post(topic, token, an_event).status == 200);
        CHECK(*first(bus.get("/topics", billing)).find("publisher") == text("..."));
        CHECK(*first(bus.get("/topics", token)).find("publisher") == text(token));
    }
}

TEST_CASE("http api: only the subscriber and root see the subscriber's credentials in full") {
    Scenario bus;
    const auto* const callback = "https://user:pass@b.example:8443/in/key";
    CHECK(bus.post("/subscription", billing, payload_for(callback)).status == 204);
    for (const auto& user : {std::string{billing}, std::string{root}}) {
        const auto entry = first(bus.get("/subscribers", user));
        CHECK(*entry.find("subscriber") == text(billing));
        CHECK(*entry.find("uuid") == text("password"));
        CHECK(*entry.find("callback") == text(callback));
    }
    const auto answer = bus.get("/subscribers", shop);
    for (const char* secret : {"fedcba98", "password", "user", "pass", "key"}) {
        CHECK(answer.body.find(secret) == std::string::npos);
    }
    const auto entry = first(answer);
    CHECK(*entry.find("subscriber") == text("billing"));
    CHECK(*entry.find("uuid") == text("..."));
    CHECK(*entry.find("callback") == text("https://b.example:8443/..."));
    // All keys must be present, because the Ruby client reads them.
    for (const char* key : {"max_events", "timeout", "topics", "events"}) {
        CHECK(entry.find(key) != nullptr);
    }
    CHECK(*entry.find("topics") == rm::Value{rm::Value::Array{text("orders")}});
    CHECK(*entry.find("events")->find("queued") == rm::Value{0});
}

TEST_CASE("http api: other clients see scheme, host and port of a callback, but not its path") {
    Scenario bus;
    const auto shown = [&](const std::string& callback) {
        done(bus.store, rm::Subscribe{billing, {}, {.callback = callback}});
        return *first(bus.get("/subscribers", shop)).find("callback")->get_if<std::string>();
    };
    CHECK(shown("https://b.example") == "https://b.example");
    CHECK(shown("https://b.example/") == "https://b.example");
    CHECK(shown("https://b.example#secret") == "https://b.example/...");
    CHECK(shown("https://b.example?secret") == "https://b.example/...");
    CHECK(shown("https://b.example/a@secret") == "https://b.example/...");
    CHECK(shown("https://u:p@b.example") == "https://b.example");
    CHECK(shown("http://u@p@b.example/x") == "http://b.example/...");
    CHECK_MESSAGE(shown("local:audit--secret") == "local:audit", "it ends with a token");
    CHECK(shown("local:audit") == "local:...");
    CHECK(shown("odd") == "...");
}
