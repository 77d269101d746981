#include <doctest/doctest.h>

#include <string>

#include "routemaster/codec/json.hpp"
#include "support/batch_receiver.hpp"
#include "support/running_bus.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using test::RunningBus;

namespace {

const std::string orders_url = "https://shop.example/orders/1";

/// The state of a bus, as far as the routes return it.
std::string state_of(const RunningBus& bus) {
    return bus.ask("GET", "/topics", test::root_key).body +
           bus.ask("GET", "/subscribers", test::root_key).body +
           bus.ask("GET", "/api_tokens", test::root_key).body;
}

}  // namespace

TEST_CASE("every route of the running bus responds correctly") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    const test::BatchReceiver receiver;

    CHECK(bus.ask("GET", "/health").status == 200);
    CHECK(bus.ask("GET", "/health/ping").body.starts_with(R"({"pong":")"));
    CHECK(bus.ask("GET", "/health/ping.json").status == 200);
    CHECK(bus.ask("GET", "/pulse", "shop").status == 204);
    CHECK(bus.ask("GET", "/pulse/scaling", test::root_key).status == 204);

    const auto added =
        bus.ask("POST", "/api_tokens", test::root_key, R"({"name":"new","token":"new--1"})");
    CHECK(added.status == 201);
    CHECK(added.body == R"({"token":"new--1","name":"new"})");
    CHECK(bus.ask("GET", "/api_tokens", test::root_key)
              .body.find(R"({"name":"new","token":"new--1"})") != std::string::npos);
    CHECK(bus.ask("GET", "/pulse", "new--1").status == 204);

    CHECK(bus.subscribe("billing", R"(["orders","refunds"])", receiver.url()).status == 204);
    CHECK(bus.ask("POST", "/subscriber", "audit",
                  R"({"topics":["orders"],"callback":")" + receiver.url() + R"("})")
              .status == 204);
    const auto subscribers = bus.ask("GET", "/subscribers", test::root_key);
    CHECK(subscribers.status == 200);
    CHECK(parse_json(subscribers.body).value().get_if<Value::Array>()->size() == 2);
    CHECK(bus.ask("GET", "/subscriptions", test::root_key).body == subscribers.body);

    const auto published = bus.publish("orders", orders_url);
    CHECK(published.status == 200);
    CHECK(published.body.empty());
    CHECK(bus.ask("GET", "/topics", "shop").body ==
          R"([{"name":"orders","publisher":"shop","events":1},)"
          R"({"name":"refunds","publisher":null,"events":0}])");

    CHECK(bus.publish("refunds", "https://shop.example/refunds/1").status == 200);
    CHECK(bus.ask("DELETE", "/subscriber/topics/refunds", "billing").status == 204);
    CHECK(bus.ask("DELETE", "/subscriber/topics/refunds", "billing").body == "not subscribed");
    CHECK(bus.ask("DELETE", "/subscriber", "audit").status == 204);
    CHECK(bus.ask("DELETE", "/subscriber", "audit").status == 404);
    CHECK(bus.ask("DELETE", "/topics/refunds", test::root_key).status == 204);
    CHECK(bus.ask("DELETE", "/topics/refunds", test::root_key).status == 404);
    CHECK(bus.ask("DELETE", "/api_tokens/new--1", test::root_key).status == 204);
    CHECK(bus.ask("GET", "/pulse", "new--1").status == 401);
}

TEST_CASE("one kept-alive connection carries many requests of different clients") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path()};
    test::HttpClient client{bus.port()};
    for (int i = 0; i < 50; ++i) {
        CHECK(client
                  .ask("POST", "/topics/orders", RunningBus::event_json(orders_url),
                       test::authorization("shop"))
                  .status == 200);
        CHECK(client.ask("GET", "/health").status == 200);
    }
    CHECK(client.ask("GET", "/topics", {}, test::authorization(test::root_key))
              .body.find(R"("events":50)") != std::string::npos);
}

TEST_CASE("a refused request changes nothing") {
    const test::TemporaryFolder folder;
    const RunningBus bus{folder.path(), {"--body-max", "1000"}};
    REQUIRE(bus.publish("orders", orders_url).status == 200);
    const auto before = state_of(bus);
    const auto refuse = [&](int status, const std::string& method, const std::string& path,
                            const std::string& token, const std::string& body,
                            const std::string& names) {
        const auto reply = bus.ask(method, path, token, body);
        CAPTURE(path);
        CAPTURE(body);
        CHECK(reply.status == status);
        CHECK(reply.body.find(names) != std::string::npos);
    };
    const auto event = RunningBus::event_json(orders_url);

    refuse(404, "GET", "/nothing", test::root_key, "", "");
    refuse(404, "PUT", "/topics/orders", "shop", event, "");
    refuse(404, "GET", "/topics/", "shop", "", "");
    refuse(401, "POST", "/topics/orders", "", event, "a client token");
    refuse(401, "POST", "/topics/orders", "nobody", event, "a client token");
    refuse(401, "POST", "/topics/orders", test::root_key, event, "a client token");
    refuse(401, "GET", "/api_tokens", "shop", "", "a root token");
    refuse(403, "POST", "/topics/orders", "billing", event, "topic claimed");
    refuse(403, "DELETE", "/topics/orders", "billing", "", "");

    refuse(400, "POST", "/topics/Orders", "shop", event, "topic");
    refuse(400, "POST", "/topics/orders", "shop", "", "");
    refuse(400, "POST", "/topics/orders", "shop", "[]", "object");
    refuse(400, "POST", "/topics/orders", "shop", "{", "JSON");
    refuse(400, "POST", "/topics/fresh", "shop", R"({"url":"https://a.example"})", "type");
    refuse(400, "POST", "/topics/fresh", "shop", R"({"type":"grow","url":"https://a.example"})",
           "type");
    refuse(400, "POST", "/topics/fresh", "shop", R"({"type":"noop"})", "url");
    refuse(400, "POST", "/topics/fresh", "shop", R"({"type":"noop","url":"ftp://a"})", "url");
    refuse(400, "POST", "/topics/fresh", "shop",
           R"({"type":"noop","url":"https://a.example","timestamp":"noon"})", "timestamp");
    refuse(400, "POST", "/topics/fresh", "shop",
           R"({"type":"noop","url":"https://a.example","data":[1]})", "data");
    refuse(400, "POST", "/topics/fresh", "shop",
           R"({"type":"noop","url":"https://a.example","data":{"a":NaN}})", "JSON");

    const std::string callback = R"("callback":"https://billing.example/events")";
    refuse(400, "POST", "/subscription", "billing", R"({"topics":"orders",)" + callback + "}",
           "topics");
    refuse(400, "POST", "/subscription", "billing", R"({"topics":["fresh","No"],)" + callback + "}",
           "topic");
    refuse(400, "POST", "/subscription", "billing", R"({"topics":["fresh"]})", "callback");
    refuse(400, "POST", "/subscription", "billing",
           R"({"topics":["fresh"],"timeout":-1,)" + callback + "}", "timeout");
    refuse(400, "POST", "/subscription", "billing",
           R"({"topics":["fresh"],"max":0,)" + callback + "}", "max");
    refuse(400, "POST", "/subscription", "billing",
           R"({"topics":["fresh"],"colour":1,)" + callback + "}", "colour");
    refuse(400, "POST", "/api_tokens", test::root_key, R"({"name":"No Such"})", "name");

    refuse(413, "POST", "/topics/orders", "shop", std::string(1'001, ' ') + event, "");

    CHECK(state_of(bus) == before);
}

TEST_CASE("without the flag, callbacks by plain http or on this machine are refused") {
    const test::TemporaryFolder folder;
    test::Process process{{test::routemaster_binary, "serve", "--listen", "127.0.0.1:0",
                           "--data-dir", folder.path().string(), "--root-key", test::root_key,
                           "--clients", "billing"}};
    const auto port = test::announced_port(process.line());
    const auto subscribe = [&](const std::string& callback) {
        test::HttpClient client{port};
        return client.ask("POST", "/subscription",
                          R"({"topics":["orders"],"callback":")" + callback + R"("})",
                          test::authorization("billing"));
    };
    CHECK(subscribe("http://billing.example/events").status == 400);
    CHECK(subscribe("https://127.0.0.1/events").status == 400);
    CHECK(subscribe("https://billing.example/events").status == 204);
}
