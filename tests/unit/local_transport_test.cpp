#include "routemaster/transport/local.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/store/memory.hpp"

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

    /// Waits until there are `count`, and takes them all.
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

const Event order{.topic = "orders",
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
    delivery.messages.append(encode_message(order, {}));
    return delivery;
}

}  // namespace

TEST_CASE("a local transport serves local callbacks alone") {
    Callbacks callbacks;
    LocalTransport transport{callbacks};
    CHECK(transport.serves("local:billing"));
    CHECK(!transport.serves("https://local.example"));
    CHECK(!transport.serves(""));
}

TEST_CASE("a callback gets the batch, and to return is success") {
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
    CHECK(got->events == std::vector<Event>{order});
}

TEST_CASE("a callback that throws is a failure, whatever it throws") {
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
    CHECK(all[1].outcome.error().context() == "callback threw something that is no exception");
    CHECK(all[0].outcome.error().code() == Errc::unavailable);
}

TEST_CASE("a callback that the program has not named is a failure until it is") {
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

TEST_CASE("messages that cannot be decoded are left out and counted") {
    Callbacks callbacks;
    std::size_t events = 0;
    callbacks.set("billing", [&](const Batch& batch) { events = batch.events.size(); });
    LocalTransport transport{callbacks};
    Reports reports;
    auto delivery = delivery_to("billing");
    delivery.messages.append("rubbish");
    delivery.messages.append(encode_message(order, {}));
    transport.deliver(std::move(delivery), reports.collect());
    const auto report = reports.wait_for(1).front();
    CHECK(report.outcome);
    CHECK(report.undecodable == 1);
    CHECK(events == 2);
}

TEST_CASE("as many callbacks run at once as there are threads") {
    Callbacks callbacks;
    std::latch all_run{3};
    callbacks.set("billing", [&](const Batch&) { all_run.arrive_and_wait(); });
    LocalTransport transport{callbacks, {.threads = 3}};
    Reports reports;
    for (int i = 0; i < 3; ++i) transport.deliver(delivery_to("billing"), reports.collect());
    CHECK(reports.wait_for(3).size() == 3);
}

TEST_CASE("one thread calls in the order of deliveries") {
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

TEST_CASE("the end waits for the callback that runs and cancels the others, each once") {
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

TEST_CASE("a callback that runs is not taken back until it was reported, one that waits is") {
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
    CHECK_MESSAGE(transport.withdraw(batch(2).batch), "it is known no more");
    go_on.count_down();
    CHECK(reports.wait_for(1).front().outcome);
    while (!transport.withdraw(batch(1).batch)) std::this_thread::yield();
    CHECK(calls == 1);
}

TEST_CASE("a callback that runs when a runner ends is settled, those that wait come again") {
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
    bus.publish({.topic = "orders", .url = "https://shop.example/1"}).value();
    running.wait();
    std::jthread helper{[&] {
        // It goes on once the others were given back.
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

TEST_CASE("deliveries that nobody had begun are cancelled at the end") {
    Callbacks callbacks;
    Reports reports;
    int told = 0;
    {
        LocalTransport transport{callbacks, {.threads = 0}};
        for (int i = 0; i < 3; ++i) transport.deliver(delivery_to("billing"), reports.collect());
    }
    for (const auto& report : reports.wait_for(3)) {
        told += !report.outcome && report.outcome.error().code() == Errc::cancelled ? 1 : 0;
    }
    CHECK(told == 3);
}

TEST_CASE("a callback in the process gets what is published, in order, by itself") {
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
        bus.publish({.topic = "orders", .url = expected.back()}).value();
    }
    std::unique_lock lock{mutex};
    REQUIRE(arrived.wait_for(lock, std::chrono::seconds{20}, [&] { return urls.size() >= 20; }));
    CHECK(urls == expected);
}
