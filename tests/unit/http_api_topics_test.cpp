#include "support/http_api_scenario.hpp"

using namespace http_api_test;

TEST_CASE("http api: topics are listed by name, with publisher and count") {
    Scenario bus;
    CHECK(bus.get("/topics", shop).body == "[]");
    for (const char* topic : {"/topics/refunds", "/topics/orders", "/topics/orders"}) {
        CHECK(bus.post(topic, shop, an_event).status == 200);
    }
    done(bus.store, rm::Subscribe{billing, {"invoices"}, {.callback = "https://b.example"}});
    const auto answer = bus.get("/topics", root);
    CHECK(answer.status == 200);
    CHECK(answer.content_type == "application/json");
    CHECK(header(answer, "X-Content-Type-Options") == "nosniff");
    CHECK(answer.body ==
          R"([{"name":"invoices","publisher":null,"events":0},)"
          R"({"name":"orders","publisher":"shop--0123456789abcdef0123456789abcdef","events":2},)"
          R"({"name":"refunds","publisher":"shop--0123456789abcdef0123456789abcdef","events":1}])");
}

TEST_CASE("http api: a publisher can delete its own topic, and root any topic") {
    Scenario bus;
    for (const auto& user : {std::string{shop}, std::string{root}}) {
        CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
        const auto answer = bus.remove("/topics/orders", user);
        CHECK(answer.status == 204);
        CHECK(answer.body.empty());
        CHECK(holdings(bus.store).topics.empty());
        refused(bus, request("DELETE", "/topics/orders", user), 404, "");
    }
}

TEST_CASE("http api: only its publisher and root delete a topic") {
    Scenario bus;
    const std::string text = "only the publisher of a topic, or root, may delete it";
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    refused(bus, request("DELETE", "/topics/orders", billing), 403, text);
    done(bus.store, rm::Subscribe{billing, {"unclaimed"}, {.callback = "https://b.example"}});
    refused(bus, request("DELETE", "/topics/unclaimed", billing), 403, text);
    CHECK(bus.remove("/topics/unclaimed", root).status == 204);
}

TEST_CASE("http api: a topic with an invalid name is treated as missing") {
    Scenario bus;
    refused(bus, request("DELETE", "/topics/Bad-Name", root), 404, "");
}

TEST_CASE("http api: a client owns no more topics than the setting allows") {
    auto options = default_options();
    options.topics_max = 2;
    Scenario bus{options};
    CHECK(bus.post("/topics/a", shop, an_event).status == 200);
    CHECK(bus.post("/topics/b", shop, an_event).status == 200);
    refused(bus, request("POST", "/topics/c", shop, an_event), 403,
            "too many topics: at most 2 may belong to a client");
    CHECK(bus.post("/topics/b", shop, an_event).status == 200);
    CHECK(bus.post("/topics/c", billing, an_event).status == 200);
    CHECK(bus.remove("/topics/a", root).status == 204);
    CHECK(bus.post("/topics/d", shop, an_event).status == 200);
}

TEST_CASE("http api: a topic without a publisher is removed with its last subscription") {
    Scenario bus;
    for (const std::string topics : {R"(["a","b"])", R"(["c","d"])", "[]"}) {
        CHECK(bus.post("/subscription", billing,
                       R"({"callback":"https://b.example","topics":)" + topics + '}')
                  .status == 204);
        CHECK(done(bus.store, rm::ListTopics{}).size() == (topics == "[]" ? 0 : 2));
    }
}

TEST_CASE("http api: deleting a topic ends its subscriptions, and keeps their subscribers") {
    Scenario bus;
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    const std::string payload = R"({"topics":["orders","refunds"],"callback":"https://b.example"})";
    CHECK(bus.post("/subscription", billing, payload).status == 204);
    CHECK(bus.remove("/topics/orders", shop).status == 204);

    CHECK(bus.get("/subscribers", billing).body.find(R"("topics":["refunds"])") !=
          std::string::npos);
    refused(bus, request("DELETE", "/subscriber/topics/orders", billing), 404, "topic not found");
    // Publishing to the topic again does not restore subscriptions.
    CHECK(bus.post("/topics/orders", shop, an_event).status == 200);
    CHECK(holdings(bus.store).batches.empty());
    CHECK(bus.post("/subscription", billing, payload).status == 204);
    CHECK(bus.remove("/subscriber", billing).status == 204);
    CHECK(bus.remove(std::string{"/api_tokens/"} + billing, root).status == 204);
}
