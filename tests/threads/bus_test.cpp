#include "routemaster/bus.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/faulty_store.hpp"
#include "routemaster/testing/manual_clock.hpp"

using namespace routemaster;

namespace {

Event order_number(int number) {
    return {.topic = "orders",
            .type = EventType::update,
            .url = "https://shop.example/orders/" + std::to_string(number)};
}

const Event broken{.topic = "orders", .type = EventType::update, .url = "shop.example"};

struct Shop {
    testing::ManualClock clock;
    MemoryStore store;
    Bus bus{store, {.publisher = "shop--key", .clock = &clock}};

    /// Events queued for a subscriber.
    [[nodiscard]] std::uint64_t queued(const std::string& token) {
        return bus.subscriber(token).status().value().value().events_queued;
    }
    void subscribe(const std::string& token, std::uint32_t max_events = 100) {
        bus.subscriber(token)
            .subscribe({"orders"}, {.callback = "https://a.example", .max_events = max_events})
            .value();
    }
    [[nodiscard]] std::int64_t counter(const std::string& name) const {
        for (const auto& counter : bus.counters().value()) {
            if (counter.key.name == name) return counter.value;
        }
        return 0;
    }
};

}  // namespace

TEST_CASE("a published event is queued for each subscriber of its topic") {
    Shop shop;
    shop.subscribe("billing");
    shop.subscribe("audit");
    CHECK(shop.bus.publish(order_number(1)));
    CHECK(shop.queued("billing") == 1);
    CHECK(shop.queued("audit") == 1);
    CHECK(shop.counter("events.published") == 1);
}

TEST_CASE("an event without a time gets the time of the bus's clock") {
    Shop shop;
    shop.subscribe("billing", 1);
    shop.bus.publish(order_number(1)).value();
    const auto acquired =
        perform(shop.store, AcquireJobs{delivery_queue, Uid{1, 1}, 1}, shop.clock.now()).value();
    const auto start =
        perform(shop.store, BeginDelivery{acquired.leases.at(0), Duration{1}}, shop.clock.now())
            .value();
    CHECK(start.created_at == shop.clock.now());
    CHECK(decode_message(*start.messages.begin())->timestamp == shop.clock.now());
}

TEST_CASE("a topic belongs to the first publisher that publishes to it") {
    Shop shop;
    Bus rival{shop.store, {.publisher = "rival--key"}};
    Bus nobody{shop.store};
    CHECK(nobody.publish(order_number(1)));
    CHECK(!shop.bus.topics().value().at(0).publisher);
    CHECK(shop.bus.publish(order_number(2)));
    CHECK(shop.bus.topics().value().at(0).publisher == "shop--key");
    CHECK(rival.publish(order_number(3)).error().code() == Errc::forbidden);
    CHECK(nobody.publish(order_number(4)).error().code() == Errc::forbidden);
    CHECK_THROWS_AS(rival.publish(order_number(3)).value(), Failure);
    CHECK(rival.remove_topic("orders").error().code() == Errc::forbidden);
    CHECK(shop.bus.topics().value().at(0).events == 2);
    CHECK(shop.bus.remove_topic("orders").value() == Removal::removed);
    CHECK(rival.publish(order_number(5)));
}

TEST_CASE("an invalid event is refused with the name of the invalid field, and nothing changes") {
    Shop shop;
    auto event = order_number(1);
    event.topic = "no topic";
    CHECK(shop.bus.publish(event).error().context().starts_with("topic:"));
    CHECK(shop.bus.publish(broken).error().context().starts_with("url:"));
    event = order_number(1);
    event.data = Value{Value::Map{{"k", Value{std::string(70'000, 'v')}}}};
    CHECK(shop.bus.publish(event).error().context().starts_with("data:"));
    CHECK(shop.bus.topics().value().empty());

    Bus generous{shop.store, {.event_data_max = 80'000}};
    CHECK(generous.publish(event));

    Bus misnamed{shop.store, {.publisher = "Bad Name"}};
    const auto refused = misnamed.publish(order_number(1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(refused.error().context().starts_with("publisher:"));
    CHECK_FALSE(shop.bus.publisher("Bad Name").publish(order_number(1)));
}

TEST_CASE("many events are published in order, and invalid events do not stop the rest") {
    Shop shop;
    shop.subscribe("billing");
    const std::vector<Event> events{order_number(1), broken, order_number(2),
                                    broken,          broken, order_number(3)};

    std::vector<Result<void>> replies;
    SUBCASE("the call waits for its results") { replies = shop.bus.publish_many(events); }
    SUBCASE("the call has a completion") {
        shop.bus.publish_many(events, [&](auto all) { replies = std::move(all); });
    }
    REQUIRE(replies.size() == 6);
    for (std::size_t i = 0; i < replies.size(); ++i) {
        const bool good = i == 0 || i == 2 || i == 5;
        CHECK(replies[i].has_value() == good);
        if (!good) CHECK(replies[i].error().context().starts_with("url:"));
    }
    CHECK(shop.queued("billing") == 3);
    shop.clock.advance(Duration{500});
    const auto acquired =
        perform(shop.store, AcquireJobs{delivery_queue, Uid{1, 1}, 1}, shop.clock.now()).value();
    const auto start =
        perform(shop.store, BeginDelivery{acquired.leases.at(0), Duration{1}}, shop.clock.now())
            .value();
    std::string urls;
    for (const auto message : start.messages) urls += decode_message(message)->url.back();
    CHECK(urls == "123");
}

TEST_CASE("publish_many accepts an empty list, and a list of invalid events") {
    Shop shop;
    CHECK(shop.bus.publish_many({}).empty());
    const std::vector<Event> events{broken, broken};
    CHECK(shop.bus.publish_many(events).size() == 2);
    std::size_t replied = 0;
    shop.bus.publish_many(events, [&](const auto& replies) { replied = replies.size(); });
    CHECK(replied == 2);
    shop.bus.publish_many({}, [&](const auto& replies) { replied = replies.size(); });
    CHECK(replied == 0);
}

TEST_CASE("publish_many returns forbidden for each forbidden event") {
    Shop shop;
    Bus rival{shop.store, {.publisher = "rival--key"}};
    CHECK(rival.publish(
        {.topic = "refunds", .type = EventType::create, .url = "https://rival.example"}));
    const std::vector<Event> events{
        order_number(1),
        {.topic = "refunds", .type = EventType::create, .url = "https://shop.example"},
        order_number(2)};
    const auto replies = shop.bus.publish_many(events);
    CHECK(replies.at(0));
    CHECK(replies.at(1).error().code() == Errc::forbidden);
    CHECK(replies.at(2));
}

TEST_CASE("an error of the store is returned unchanged") {
    Shop shop;
    testing::FaultyStore faulty{shop.store};
    Bus bus{faulty, {.clock = &shop.clock}};
    using testing::Fault;
    faulty.script({Fault::lost_request, Fault::lost_reply, Fault::lost_request});
    CHECK(bus.publish(order_number(1)).error().code() == Errc::unavailable);
    CHECK(bus.publish(order_number(2)).error().code() == Errc::timed_out);
    const std::vector<Event> events{order_number(3), broken};
    const auto replies = bus.publish_many(events);
    CHECK(replies.at(0).error().code() == Errc::unavailable);
    CHECK(replies.at(1).error().code() == Errc::invalid);
    CHECK(shop.counter("events.published") == 1);
}

TEST_CASE("topics and subscribers are listed page by page") {
    Shop shop;
    for (const char* token : {"a", "b", "c", "d", "e"}) shop.subscribe(token);
    for (const char* topic : {"x", "y", "z"}) {
        shop.bus.publish({.topic = topic, .type = EventType::noop, .url = "https://shop.example"})
            .value();
    }
    std::string tokens;
    for (Page page{.limit = 2};;) {
        const auto some = shop.bus.subscribers(page).value();
        if (some.empty()) break;
        for (const auto& each : some) tokens += each.subscription.token;
        tokens += ' ';
        page.after = some.back().subscription.token;
    }
    CHECK(tokens == "ab cd e ");
    const auto topics = shop.bus.topics({.after = "x", .limit = 1}).value();
    REQUIRE(topics.size() == 1);
    CHECK(topics.front().name == "y");
}

TEST_CASE("deliveries that are due within a given span count as ready") {
    Shop shop;
    CHECK(shop.bus.deliveries().value() == QueueStatus{});
    shop.subscribe("billing");
    shop.bus.publish(order_number(1)).value();
    CHECK(shop.bus.deliveries().value() == QueueStatus{1, 0, 0});
    CHECK(shop.bus.deliveries(Duration{499}).value() == QueueStatus{1, 0, 0});
    CHECK(shop.bus.deliveries(Duration{500}).value() == QueueStatus{0, 1, 0});
    CHECK(shop.bus.deliveries(Duration::max()).value() == QueueStatus{0, 1, 0});
    shop.clock.advance(Duration{500});
    CHECK(shop.bus.deliveries().value() == QueueStatus{0, 1, 0});
}

TEST_CASE("a health probe returns the error of the store, and changes nothing") {
    Shop shop;
    testing::FaultyStore faulty{shop.store};
    const Bus bus{faulty};
    CHECK(bus.probe());
    CHECK(bus.counters().value().empty());
    using testing::Fault;
    faulty.script({Fault::lost_request, Fault::lost_reply, Fault::lost_request});
    CHECK(bus.probe().error().code() == Errc::unavailable);
    CHECK(bus.probe().error().code() == Errc::timed_out);
    std::optional<Errc> replied;
    bus.probe([&](const Result<void>& reply) {
        if (reply.error().code() == Errc::unavailable) replied = Errc::unavailable;
    });
    CHECK(replied == Errc::unavailable);
}

TEST_CASE("every call of a bus also exists with a completion") {
    Shop shop;
    shop.subscribe("billing");
    int replied = 0;
    shop.bus.publish(order_number(1), [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    shop.bus.publish(broken, [&](const Result<void>& reply) {
        replied += reply.error().code() == Errc::invalid ? 1 : 0;
    });
    shop.bus.topics({}, [&](Result<std::vector<Topic>> reply) {
        replied += reply.value().at(0).name == "orders" ? 1 : 0;
    });
    shop.bus.subscribers({}, [&](Result<std::vector<SubscriberStatus>> reply) {
        replied += reply.value().at(0).events_queued == 1 ? 1 : 0;
    });
    shop.bus.counters(
        {}, [&](Result<std::vector<Counter>> reply) { replied += reply.value().empty() ? 0 : 1; });
    shop.bus.deliveries(Duration{0}, [&](Result<QueueStatus> reply) {
        replied += reply.value() == QueueStatus{1, 0, 0} ? 1 : 0;
    });
    shop.bus.probe([&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    shop.bus.remove_topic("orders", [&](Result<Removal> reply) {
        replied += reply.value() == Removal::removed ? 1 : 0;
    });
    CHECK(replied == 8);
}

TEST_CASE("several threads can publish through one bus at once") {
    Shop shop;
    shop.subscribe("billing", 1);
    {
        std::vector<std::jthread> threads;
        for (int thread = 0; thread < 4; ++thread) {
            threads.emplace_back([&shop] {
                for (int i = 0; i < 500; ++i) shop.bus.publish(order_number(i)).value();
            });
        }
    }
    // Each event is in its own batch: two batches with the same id would be one batch.
    const auto status = shop.bus.subscriber("billing").status().value().value();
    CHECK(status.events_queued == 2'000);
    CHECK(status.batches_queued == 2'000);
}
