#include "routemaster/transport/local.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;

namespace {

/// Collects reports, and lets the test wait for them.
class Reports {
public:
    [[nodiscard]] DeliveryDone collect() {
        return [this](DeliveryReport report) {
            const std::lock_guard lock{mutex_};
            all_.push_back(std::move(report));
            changed_.notify_all();
        };
    }

    /// Waits for `count` reports, and returns all.
    std::vector<DeliveryReport> wait_for(std::size_t count) {
        std::unique_lock lock{mutex_};
        REQUIRE(changed_.wait_for(lock, std::chrono::seconds{20},
                                  [&] { return all_.size() >= count; }));
        return std::exchange(all_, {});
    }

private:
    std::mutex mutex_;  // Guards `all_`.
    std::condition_variable changed_;
    std::vector<DeliveryReport> all_;
};

const Event dated_order{.topic = "orders",
                        .type = EventType::update,
                        .url = "https://shop.example/1",
                        .timestamp = from_milliseconds(1'700'000'000'000)};

Delivery delivery_to(const std::string& token) {
    Delivery delivery{.batch = Uid{1, 2},
                      .subscriber = token,
                      .callback = "local:" + token,
                      .uuid = "",
                      .attempt = 3,
                      .created_at = from_milliseconds(5),
                      .messages = {}};
    delivery.messages.append(encode_message(dated_order, {}));
    return delivery;
}

}  // namespace

TEST_CASE("a local transport serves only callbacks in its process") {
    Callbacks callbacks;
    LocalTransport transport{callbacks};
    CHECK(transport.serves("local:billing"));
    CHECK(!transport.serves("https://local.example"));
    CHECK(!transport.serves(""));
}

TEST_CASE("a delivery succeeds when its callback returns") {
    Callbacks callbacks;
    std::optional<Batch> got;
    callbacks.set("billing", [&](const Batch& batch) { got = batch; });
    LocalTransport transport{callbacks};
    Reports reports;
    transport.deliver(delivery_to("billing"), reports.collect());
    const auto report = reports.wait_for(1).front();
    CHECK(report.outcome);
    CHECK(report.undecodable == 0);
    REQUIRE(got);
    CHECK(got->uid == Uid{1, 2});
    CHECK(got->subscriber == "billing");
    CHECK(got->attempt == 3);
    CHECK(got->created_at == from_milliseconds(5));
    CHECK(got->events == std::vector<Event>{dated_order});
}

TEST_CASE("a delivery fails when its callback throws anything") {
    Callbacks callbacks;
    callbacks.set("a", [](const Batch&) { throw std::runtime_error{"no disk"}; });
    callbacks.set("b", [](const Batch&) { throw 7; });
    callbacks.set("c", {});
    LocalTransport transport{callbacks};
    Reports reports;
    for (const char* token : {"a", "b", "c"}) {
        transport.deliver(delivery_to(token), reports.collect());
    }
    const auto all = reports.wait_for(3);
    for (const auto& report : all) CHECK(!report.outcome);
    CHECK(all[0].outcome.error().context() == "callback threw: no disk");
    CHECK(all[1].outcome.error().context() == "callback threw something other than an exception");
    CHECK(all[0].outcome.error().code() == Errc::unavailable);
}

TEST_CASE("a delivery fails permanently when its callback rejects the batch") {
    Callbacks callbacks;
    callbacks.set("a", [](const Batch&) { throw Reject{"of an unknown version"}; });
    callbacks.set("b", [](const Batch&) { throw std::runtime_error{"no disk"}; });
    LocalTransport transport{callbacks};
    Reports reports;
    for (const char* token : {"a", "b"}) {
        transport.deliver(delivery_to(token), reports.collect());
    }
    const auto all = reports.wait_for(2);
    REQUIRE(!all[0].outcome);
    CHECK(all[0].outcome.error().context() == "callback rejected the batch: of an unknown version");
    CHECK(all[0].permanent);
    CHECK(!all[1].permanent);
}

TEST_CASE("a delivery to a callback fails until the program registers the callback") {
    Callbacks callbacks;
    LocalTransport transport{callbacks};
    Reports reports;
    transport.deliver(delivery_to("billing"), reports.collect());
    const auto report = reports.wait_for(1).front();
    REQUIRE(!report.outcome);
    CHECK(report.outcome.error().code() == Errc::unavailable);
    callbacks.set("billing", [](const Batch&) {});
    transport.deliver(delivery_to("billing"), reports.collect());
    CHECK(reports.wait_for(1).front().outcome);
}

TEST_CASE("undecodable messages of a batch are left out and counted") {
    Callbacks callbacks;
    std::size_t events = 0;
    callbacks.set("billing", [&](const Batch& batch) { events = batch.events.size(); });
    LocalTransport transport{callbacks};
    Reports reports;
    auto delivery = delivery_to("billing");
    delivery.messages.append("rubbish");
    delivery.messages.append(encode_message(dated_order, {}));
    transport.deliver(std::move(delivery), reports.collect());
    const auto report = reports.wait_for(1).front();
    CHECK(report.outcome);
    CHECK(report.undecodable == 1);
    CHECK(events == 2);
}

TEST_CASE("as many callbacks run at once as the transport has threads") {
    Callbacks callbacks;
    std::latch all_run{3};
    callbacks.set("billing", [&](const Batch&) { all_run.arrive_and_wait(); });
    LocalTransport transport{callbacks, {.threads = 3}};
    Reports reports;
    for (int i = 0; i < 3; ++i) transport.deliver(delivery_to("billing"), reports.collect());
    CHECK(reports.wait_for(3).size() == 3);
}

TEST_CASE("with a single thread, callbacks run in the order of deliveries") {
    Callbacks callbacks;
    std::string order_of_calls;
    for (const char* token : {"a", "b", "c"}) {
        callbacks.set(token, [&](const Batch& batch) { order_of_calls += batch.subscriber; });
    }
    LocalTransport transport{callbacks};
    Reports reports;
    for (const char* token : {"c", "a", "b"}) {
        transport.deliver(delivery_to(token), reports.collect());
    }
    reports.wait_for(3);
    CHECK(order_of_calls == "cab");
}

TEST_CASE(
    "destroying a transport waits for its running callback and cancels each waiting callback "
    "once") {
    Callbacks callbacks;
    std::latch running{1};
    std::latch go_on{1};
    std::atomic<int> calls = 0;
    callbacks.set("billing", [&](const Batch&) {
        ++calls;
        running.count_down();
        go_on.wait();
    });
    Reports reports;
    std::optional<LocalTransport> transport;
    transport.emplace(callbacks);
    for (int i = 0; i < 5; ++i) transport->deliver(delivery_to("billing"), reports.collect());
    running.wait();
    std::jthread ending{[&] { transport.reset(); }};
    go_on.count_down();
    ending.join();
    const auto all = reports.wait_for(5);
    CHECK(all.size() == 5);
    int cancelled = 0;
    for (const auto& report : all) {
        if (!report.outcome && report.outcome.error().code() == Errc::cancelled) ++cancelled;
    }
    CHECK(cancelled == 5 - calls.load());
    CHECK(calls.load() >= 1);
}

TEST_CASE("a running callback cannot be cancelled until it returns, but a waiting callback can") {
    Callbacks callbacks;
    std::latch running{1};
    std::latch go_on{1};
    std::atomic<int> calls = 0;
    callbacks.set("billing", [&](const Batch&) {
        ++calls;
        running.count_down();
        go_on.wait();
    });
    Reports reports;
    LocalTransport transport{callbacks};
    const auto batch = [](std::uint64_t number) {
        auto delivery = delivery_to("billing");
        delivery.batch = Uid{number << 8U, 0};
        return delivery;
    };
    transport.deliver(batch(1), reports.collect());
    running.wait();
    transport.deliver(batch(2), reports.collect());
    CHECK(!transport.withdraw(batch(1).batch));
    CHECK(transport.withdraw(batch(2).batch));
    const auto taken_back = reports.wait_for(1).front();
    REQUIRE(!taken_back.outcome);
    CHECK(taken_back.outcome.error().code() == Errc::cancelled);
    CHECK_MESSAGE(transport.withdraw(batch(2).batch), "it is unknown now");
    go_on.count_down();
    CHECK(reports.wait_for(1).front().outcome);
    while (!transport.withdraw(batch(1).batch)) std::this_thread::yield();
    CHECK(calls == 1);
}

TEST_CASE(
    "when a runner stops, a running callback is settled, and waiting deliveries are repeated") {
    MemoryStore store;
    Bus bus{store};
    std::latch running{1};
    std::atomic<bool> ending = false;
    std::atomic<int> calls = 0;
    for (const char* token : {"a", "b", "c"}) {
        bus.subscriber(token)
            .subscribe({"orders"},
                       [&](const Batch&) {
                           ++calls;
                           running.count_down();
                           ending.wait(false);
                       },
                       {.timeout = Duration{0}})
            .value();
    }
    LocalTransport transport{bus.callbacks()};
    Dispatcher dispatcher{store, {.transports = {&transport}}};
    std::optional<Runner> runner{std::in_place, dispatcher};
    bus.publish({.topic = "orders", .type = EventType::update, .url = "https://shop.example/1"})
        .value();
    running.wait();
    std::jthread helper{[&] {
        // The callback ends after the further jobs were released.
        while (perform(store, CountJobs{delivery_queue}, system_clock().now()).value().ready < 2) {
            std::this_thread::yield();
        }
        ending = true;
        ending.notify_all();
    }};
    runner.reset();
    helper.join();
    CHECK(dispatcher.closed());
    CHECK(calls == 1);
    CHECK(perform(store, CountJobs{delivery_queue}, system_clock().now()).value() ==
          QueueStatus{.ready = 2});
}

TEST_CASE("without threads, a callback runs inside the delivery") {
    Callbacks callbacks;
    std::optional<std::thread::id> caller;
    callbacks.set("billing", [&](const Batch&) { caller = std::this_thread::get_id(); });
    callbacks.set("audit", [](const Batch&) { throw std::runtime_error{"no disk"}; });
    LocalTransport transport{callbacks, {.threads = 0}};
    std::vector<DeliveryReport> reports;
    const auto keep = [&](DeliveryReport report) { reports.push_back(std::move(report)); };
    transport.deliver(delivery_to("billing"), keep);
    REQUIRE(reports.size() == 1);
    CHECK(reports[0].outcome);
    CHECK(caller == std::this_thread::get_id());
    transport.deliver(delivery_to("audit"), keep);
    transport.deliver(delivery_to("nobody"), keep);
    REQUIRE(reports.size() == 3);
    CHECK(reports[1].outcome.error().context() == "callback threw: no disk");
    CHECK(!reports[1].unnamed);
    CHECK(reports[2].unnamed);
}

TEST_CASE("without threads, a handler can be tested on a manual clock") {
    testing::ManualClock clock;
    MemoryStore store;
    Bus bus{store, {.clock = &clock}};
    LocalTransport transport{bus.callbacks(), {.threads = 0}};
    Dispatcher dispatcher{store, {.transports = {&transport}}};
    test::HandRunner runner{dispatcher};
    std::string calls;
    const auto handler = [&](const Batch& batch) {
        calls += std::to_string(batch.attempt) + ":" + std::to_string(batch.events.size()) + " ";
        if (batch.attempt == 1) throw std::runtime_error{"not yet"};
        // A handler may use the bus: the handler blocks only its own dispatcher.
        bus.publish({.topic = "audits", .type = EventType::noop, .url = "urn:audit"}).value();
    };
    bus.subscriber("billing").subscribe({"orders"}, handler).value();
    CHECK(bus.subscriber("billing").status().value()->subscription.timeout == Duration{0});
    bus.publish({.topic = "orders", .type = EventType::create, .url = "urn:order:1"}).value();
    runner.run(clock.now());
    CHECK(calls == "1:1 ");
    clock.advance(Duration{60'000});
    runner.run(clock.now());
    CHECK(calls == "1:1 2:1 ");
    CHECK(bus.subscriber("billing").status().value()->events_queued == 0);
}

TEST_CASE("a delivery to an unregistered callback waits until the program registers it") {
    testing::ManualClock clock;
    MemoryStore store;
    Bus bus{store, {.clock = &clock}};
    std::size_t events = 0;
    const auto subscribe = [&](Bus& with) {
        with.subscriber("billing")
            .subscribe({"orders"}, [&](const Batch& batch) { events += batch.events.size(); })
            .value();
    };
    {
        Bus before{store, {.clock = &clock}};
        subscribe(before);
    }
    LocalTransport transport{bus.callbacks(), {.threads = 0}};
    Dispatcher dispatcher{store, {.transports = {&transport}}};
    test::HandRunner runner{dispatcher};
    const auto publish_and_wait = [&] {
        bus.publish({.topic = "orders", .type = EventType::noop, .url = "urn:order"}).value();
        for (int i = 0; i < 100; ++i) {
            clock.advance(Duration{1'000});
            runner.run(clock.now());
        }
    };
    publish_and_wait();
    const auto waiting = bus.subscriber("billing").status().value().value();
    CHECK(waiting.events_queued == 1);
    CHECK(waiting.health_points == 100);
    CHECK_FALSE(waiting.last_attempted_at);
    subscribe(bus);
    publish_and_wait();
    CHECK(events == 2);
    bus.callbacks().remove("billing");
    publish_and_wait();
    CHECK(bus.subscriber("billing").status().value()->events_queued == 1);
    CHECK(events == 2);
}

namespace {

/// Claims callbacks whose handlers disappeared while their batch was on its way.
class Forgetful final : public Transport {
public:
    explicit Forgetful(Transport& next) : next_{next} {}

    [[nodiscard]] bool serves(std::string_view callback) const override {
        return next_.serves(callback);
    }
    [[nodiscard]] std::vector<std::string> destinations() const override {
        return {"billing--0123456789"};
    }
    void deliver(Delivery delivery, DeliveryDone done) override {
        next_.deliver(std::move(delivery), std::move(done));
    }

private:
    Transport& next_;
};

}  // namespace

TEST_CASE("unregistering a callback while a batch for it is under way causes one warning") {
    const std::string token = "billing--0123456789";
    testing::ManualClock clock;
    MemoryStore store;
    test::RecordedLog log;
    Bus bus{store, {.clock = &clock}};
    bus.subscriber(token).subscribe({"orders"}, [](const Batch&) {}).value();
    bus.callbacks().remove(token);
    LocalTransport local{bus.callbacks(), {.threads = 0}};
    Forgetful transport{local};
    Dispatcher dispatcher{store, {.transports = {&transport}, .log = log.sink()}};
    test::HandRunner runner{dispatcher};
    bus.publish({.topic = "orders", .type = EventType::noop, .url = "urn:order"}).value();
    for (int i = 0; i < 100; ++i) {
        clock.advance(Duration{1'000});
        runner.run(clock.now());
    }
    CHECK(log.count(LogLevel::warning, "this process has no callback for 'billing'") == 1);
    CHECK(log.count(LogLevel::warning, "") == 1);
    CHECK(log.count(LogLevel::warning, "0123456789") == 0);
}

TEST_CASE("deliveries to callbacks that have not begun are cancelled at the end") {
    Callbacks callbacks;
    std::latch running{1};
    std::latch go_on{1};
    callbacks.set("audit", [&](const Batch&) {
        running.count_down();
        go_on.wait();
    });
    Reports reports;
    std::optional<LocalTransport> transport;
    transport.emplace(callbacks);
    transport->deliver(delivery_to("audit"), reports.collect());
    running.wait();
    for (int i = 0; i < 3; ++i) transport->deliver(delivery_to("billing"), reports.collect());
    std::jthread ending{[&] { transport.reset(); }};
    go_on.count_down();
    ending.join();
    int replied = 0;
    for (const auto& report : reports.wait_for(4)) {
        // The callback may have returned before the end of the transport. Then no cancellation is
        // reported before.
        replied +=
            report.unnamed || (!report.outcome && report.outcome.error().code() == Errc::cancelled)
                ? 1
                : 0;
    }
    CHECK(replied == 3);
}

TEST_CASE("a callback in the process gets published events in order") {
    MemoryStore store;
    Bus bus{store};
    LocalTransport transport{bus.callbacks()};
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<std::string> urls;
    bool failed = false;
    bus.subscriber("billing")
        .subscribe({"orders"},
                   [&](const Batch& batch) {
                       const std::lock_guard lock{mutex};
                       if (!std::exchange(failed, true)) throw std::runtime_error{"not yet"};
                       for (const auto& event : batch.events) urls.push_back(event.url);
                       arrived.notify_one();
                   },
                   {.timeout = Duration{0}, .max_events = 2})
        .value();
    Dispatcher dispatcher{store, {.transports = {&transport}}};
    Runner runner{dispatcher};
    std::vector<std::string> expected;
    for (int i = 0; i < 20; ++i) {
        expected.push_back("https://shop.example/" + std::to_string(i));
        bus.publish({.topic = "orders", .type = EventType::update, .url = expected.back()}).value();
    }
    std::unique_lock lock{mutex};
    REQUIRE(arrived.wait_for(lock, std::chrono::seconds{20}, [&] { return urls.size() >= 20; }));
    CHECK(urls == expected);
}
