/// @file
/// Subscribers that fail every delivery are probed with one at a time.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

#include "support/delivery_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A bus with one subscriber, of which 16 batches are under way and more wait.
struct Probed : DeliveryScene {
    Probed() {
        subscribe("billing", {.max_events = 1, .max_in_flight = 16});
        publish(40);
        run();
        REQUIRE(transport.under_way() == 16);
    }

    /// Runs until deliveries are under way again; returns how many.
    std::size_t next() {
        while (transport.under_way() == 0) {
            clock.set(runner.next());
            run();
        }
        return transport.under_way();
    }
};

}  // namespace

TEST_CASE("after 8 failures in a row a subscriber has one delivery under way at a time") {
    Probed bus;
    CHECK(bus.answer_all(refusal()) == 16);
    for (int failures = 1; failures < 6; ++failures) {
        CAPTURE(failures);
        CHECK(bus.next() == 1);
        bus.answer_all(refusal());
    }
    CHECK(bus.delivered_to("billing").ends_with(" 16 1 1 1 1 1"));
}

TEST_CASE("a subscriber that is back gets as many deliveries as before, step by step") {
    Probed bus;
    bus.answer_all(refusal());
    REQUIRE(bus.next() == 1);
    bus.answer_all();
    CHECK(bus.queue().pending <= 2);
    std::size_t most = 0;
    for (int answered = 1; answered < 40;) {
        const auto under_way = bus.next();
        CHECK(under_way <= 2 * std::max<std::size_t>(most, 1));
        most = std::max(most, under_way);
        answered += static_cast<int>(bus.answer_all());
    }
    CHECK(most > 8);
    CHECK(bus.queue() == QueueStatus{});
}

TEST_CASE("a subscriber that fails 7 times, but never 8 in a row, keeps its deliveries") {
    Probed bus;
    for (int times = 0; times < 3; ++times) {
        CAPTURE(times);
        for (int i = 0; i < 7; ++i) bus.transport.answer(refusal());
        bus.run_for(Duration{1'000});
        CHECK(bus.transport.under_way() == 16);
        bus.transport.answer({});
    }
}

TEST_CASE("a batch that is never accepted does not block those behind it once others would be") {
    Probed bus;
    bus.answer_all(refusal());
    // The first batch alone is tried; the second joins it when that has failed once too often.
    for (int attempt = 2; attempt <= 7; ++attempt) {
        CAPTURE(attempt);
        CHECK(bus.next() == 1);
        bus.answer_all(refusal());
    }
    REQUIRE(bus.next() == 1);
    CHECK(bus.delivered_to("billing").ends_with(" 1 1 1 1 1 1 2"));
    bus.answer_all();
    // Only the first one is refused from now on.
    for (int rounds = 0; rounds < 40 && bus.queue().ready + bus.queue().pending > 0; ++rounds) {
        bus.next();
        while (bus.transport.under_way() > 0) {
            const auto all = bus.transport.deliveries();
            const auto& first = all[all.size() - bus.transport.under_way()];
            const auto url = testing::ScriptedTransport::events_of(first).front().url;
            const bool poison = url == "https://shop.example/1";
            bus.transport.answer(poison ? refusal() : Result<void>{});
        }
        bus.run();
    }
    CHECK(bus.queue() == QueueStatus{.scheduled = 1});
}
