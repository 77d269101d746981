#include "routemaster/publisher.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "routemaster/api_tokens.hpp"
#include "routemaster/bus.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "routemaster/testing/manual_clock.hpp"

using namespace routemaster;

namespace {

Event event_in(const std::string& topic) {
    return {.topic = topic, .type = EventType::update, .url = "https://shop.example/1"};
}

struct Market {
    testing::ManualClock clock;
    MemoryStore memory;
    testing::FaultyStore store{memory};
    Bus bus{store, {.rules = {.urls = UrlRule::https}, .clock = &clock}};
    ApiTokens tokens{store, clock};
    Publisher shop = bus.publisher("shop--key");

    [[nodiscard]] std::vector<Topic> topics() const { return bus.topics().value(); }
};

}  // namespace

TEST_CASE("a publisher handle publishes under its own token, and not under the bus's") {
    Market market;
    Bus bus{market.store, {.publisher = "bus--key"}};
    CHECK(bus.publisher("shop--key").token() == "shop--key");
    CHECK(bus.publisher("shop--key").publish(event_in("orders")));
    CHECK(market.topics() == std::vector<Topic>{{"orders", "shop--key", 1}});
    CHECK(bus.publish(event_in("orders")).error().code() == Errc::forbidden);
    CHECK(market.bus.publisher("rival").publish(event_in("orders")).error().code() ==
          Errc::forbidden);
}

TEST_CASE("the event rules of the bus apply to its publisher handles") {
    Market market;
    auto event = event_in("orders");
    event.url = "urn:order:1";
    const auto refused = market.shop.publish(event);
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(refused.error().context() == "url: URL is not HTTPS");
    event = event_in("orders");
    event.data = Value{Value::Map{{"k", Value{std::string(70'000, 'v')}}}};
    CHECK(market.shop.publish(event).error().context().starts_with("data: takes "));
    Bus generous{market.store, {.event_data_max = 80'000}};
    CHECK(generous.publisher("shop--key").publish(event));
}

TEST_CASE("a publisher owns topics only up to its limit") {
    Market market;
    const auto shop = market.bus.publisher("shop--key", {.topics_max = 1});
    CHECK(shop.publish(event_in("orders")));
    CHECK(shop.publish(event_in("orders")));
    CHECK(shop.publish(event_in("refunds")).error().code() == Errc::limit_exceeded);
    CHECK(shop.remove_topic("orders").value() == Removal::removed);
    CHECK(shop.publish(event_in("refunds")));
}

TEST_CASE("a publisher with authentication needs a valid token, and publishes in one submission") {
    Market market;
    const auto shop = market.bus.publisher("shop--key", {.authenticate = true});
    CHECK(shop.publish(event_in("orders")).error().code() == Errc::unauthenticated);
    CHECK(market.topics().empty());
    market.tokens.put({"shop--key", "shop"}).value();
    const auto trips = market.store.count(testing::Fault::none);
    CHECK(shop.publish(event_in("orders")));
    CHECK(market.store.count(testing::Fault::none) == trips + 1);
    market.tokens.remove("shop--key").value();
    CHECK(shop.publish(event_in("orders")).error().code() == Errc::unauthenticated);
    CHECK(market.topics().at(0).events == 1);
    // Without authentication a publisher needs no token.
    CHECK(market.shop.publish(event_in("orders")));
}

TEST_CASE("a publisher can remove only its own topics") {
    Market market;
    CHECK(market.shop.publish(event_in("orders")));
    CHECK(market.bus.publisher("rival").remove_topic("orders").error().code() == Errc::forbidden);
    CHECK(market.shop.remove_topic("orders").value() == Removal::removed);
    CHECK(market.shop.remove_topic("orders").value() == Removal::unknown);
}

TEST_CASE("a publication whose reply is lost is in doubt, and is not repeated") {
    Market market;
    market.store.script({testing::Fault::lost_reply});
    CHECK(market.shop.publish(event_in("orders")).error().code() == Errc::timed_out);
    CHECK(market.topics().at(0).events == 1);
    // The lost removal is repeated.
    market.store.script({testing::Fault::lost_reply});
    CHECK(market.shop.remove_topic("orders").value() == Removal::unknown);
    CHECK(market.topics().empty());
}

TEST_CASE("every call of a publisher also exists with a completion") {
    Market market;
    int replied = 0;
    market.shop.publish(event_in("orders"),
                        [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    market.shop.publish(event_in("no topic"), [&](const Result<void>& reply) {
        replied += reply.error().code() == Errc::invalid ? 1 : 0;
    });
    const auto stranger = market.bus.publisher("stranger", {.authenticate = true});
    stranger.publish(event_in("orders"), [&](const Result<void>& reply) {
        replied += reply.error().code() == Errc::unauthenticated ? 1 : 0;
    });
    market.shop.remove_topic("orders", [&](Result<Removal> reply) {
        replied += reply.value() == Removal::removed ? 1 : 0;
    });
    CHECK(replied == 4);
}
