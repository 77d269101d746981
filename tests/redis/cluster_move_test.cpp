// A bus in a cluster whose slot is moved between nodes, key by key. No step is done in part, no
// acknowledged event is lost, and steps succeed once the slot has moved.

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redis_scene.hpp"
#include "support/await.hpp"
#include "support/redis_cluster.hpp"
#include "support/redis_keys.hpp"

using namespace routemaster;
using test::RedisCluster;

namespace {

const std::string prefix = "{bus}:";
constexpr TimePoint now = from_milliseconds(1'795'222'853'691);

/// A bus with a subscriber of `cats`, in a cluster of two nodes.
struct Bus {
    explicit Bus(Duration timeout = Duration{5'000})
        : owner{cluster.owner(prefix)},
          store{{.addresses = {cluster.node(owner).address()},
                 .prefix = prefix,
                 .timeout = timeout}} {
        perform(store,
                Subscribe{.token = "billing",
                          .topics = {"cats"},
                          .options = {.callback = "https://x.example/", .timeout = Duration{0}}},
                now)
            .value();
    }

    RedisCluster cluster{2};
    std::size_t owner;
    RedisStore store;

    [[nodiscard]] std::size_t target() const { return 1 - owner; }

    PublishEvent event(const std::string& topic) {
        return {.topic = topic,
                .publisher = "pub--secret",
                .message = encode_message(
                    {.topic = topic, .type = EventType::create, .url = "https://x.example/1"}, now),
                .timestamp = now,
                .uid = *Uid::parse("BATCHBATCHBATCHB" + std::string(1, next_letter()) + "AAA")};
    }

    /// Submits a step. Returns its outcome.
    std::future<Outcome> begin(Step step) {
        auto promise = std::make_shared<std::promise<Outcome>>();
        auto outcome = promise->get_future();
        store.submit({&step, 1}, now, [promise](std::span<Outcome> outcomes) {
            promise->set_value(std::move(outcomes.front()));
        });
        return outcome;
    }

    [[nodiscard]] std::vector<std::string> keys(std::size_t node) {
        std::vector<std::string> all;
        for (const auto& key : cluster.node(node).command({"KEYS", "*"}).list) {
            all.push_back(key.text);
        }
        return all;
    }
    void move(const std::string& key) { cluster.move_key(key, owner, target()); }
    void end_move() {
        for (const auto& key : keys(owner)) move(key);
        cluster.end_move(prefix, target());
    }

    /// Delivers all due batches. Returns the number of events.
    std::size_t delivered() {
        std::size_t events = 0;
        const Uid worker = *Uid::parse("WORKERWORKERWORKER00");
        for (;;) {
            const auto got =
                perform(store, AcquireJobs{.queue = "main", .worker = worker, .limit = 100}, now)
                    .value();
            if (got.leases.empty()) return events;
            for (const auto& lease : got.leases) {
                const auto start =
                    perform(store, BeginDelivery{lease, Duration{60'000}, 0}, now).value();
                events += start.messages.size();
                perform(store, SettleDelivery{.lease = lease, .delivered = true, .begun_at = now},
                        now)
                    .value();
            }
        }
    }

private:
    [[nodiscard]] char next_letter() { return static_cast<char>('A' + letters_++ % 26); }

    int letters_ = 0;
};

bool is_under_way(const std::future<Outcome>& outcome) {
    return outcome.wait_for(std::chrono::milliseconds{200}) == std::future_status::timeout;
}

}  // namespace

TEST_CASE(
    "redis cluster: an event arrives after its topic moved to another node and its subscribers did "
    "not") {
    Bus bus;
    perform(bus.store, bus.event("cats"), now).value();
    bus.cluster.begin_move(prefix, bus.owner, bus.target());
    bus.move(prefix + "topic:cats");
    auto published = bus.begin(bus.event("cats"));
    CHECK(is_under_way(published));
    CHECK(bus.keys(bus.target()) == std::vector<std::string>{prefix + "topic:cats"});
    bus.end_move();
    CHECK(published.get());
    CHECK(bus.delivered() == 2);
}

TEST_CASE(
    "redis cluster: while a slot moves, a step that needs a new key waits without any effect") {
    Bus bus;
    const auto before = test::keys_of(bus.cluster.node(bus.owner)).text();
    bus.cluster.begin_move(prefix, bus.owner, bus.target());
    std::vector<std::future<Outcome>> outcomes;
    outcomes.push_back(bus.begin(bus.event("cats")));
    outcomes.push_back(bus.begin(bus.event("dogs")));
    outcomes.push_back(bus.begin(PushJob{"work", "job", now}));
    outcomes.push_back(bus.begin(ListTopics{}));
    for (auto& outcome : outcomes) CHECK(is_under_way(outcome));
    CHECK(test::keys_of(bus.cluster.node(bus.owner)).text() == before);
    bus.end_move();
    for (auto& outcome : outcomes) CHECK(outcome.get());
    CHECK(bus.delivered() == 1);
}

TEST_CASE(
    "redis cluster: steps fail as unavailable when a slot moves for longer than their timeout") {
    Bus bus{Duration{1'000}};
    const auto before = test::keys_of(bus.cluster.node(bus.owner)).text();
    bus.cluster.begin_move(prefix, bus.owner, bus.target());
    auto published = bus.begin(bus.event("cats"));
    const auto outcome = published.get();
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code() == Errc::unavailable);
    CHECK(outcome.error().context().find("the slot is being moved") != std::string::npos);
    CHECK(test::keys_of(bus.cluster.node(bus.owner)).text() == before);
    bus.end_move();
    // It takes a moment until all nodes know the new owner.
    REQUIRE(test::await([&] { return perform(bus.store, bus.event("cats"), now).has_value(); }));
    CHECK(bus.delivered() == 1);
}

TEST_CASE("redis cluster: events published while a slot moves are delivered, each once") {
    Bus bus;
    constexpr std::size_t events = 3'000;
    std::vector<std::future<Outcome>> outcomes;
    for (std::size_t i = 0; i < events; ++i) {
        if (i == events / 3) bus.cluster.begin_move(prefix, bus.owner, bus.target());
        if (i == events / 2) bus.move(prefix + "topic:cats");
        if (i == 2 * events / 3) bus.end_move();
        outcomes.push_back(bus.begin(bus.event("cats")));
    }
    std::size_t done = 0;
    for (auto& outcome : outcomes) done += outcome.get() ? 1U : 0U;
    CHECK(done == events);
    CHECK(bus.delivered() == events);
}
