#include "routemaster/subscriber.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"

using namespace routemaster;

namespace {

struct Billing {
    testing::ManualClock clock;
    MemoryStore store;
    Bus bus{store, {.clock = &clock}};
    Subscriber subscriber = bus.subscriber("billing");

    /// The reason why a subscription is refused.
    [[nodiscard]] std::string refusal(std::vector<std::string> topics, SubscribeOptions options) {
        const auto reply = subscriber.subscribe(std::move(topics), std::move(options));
        if (reply) return {};
        CHECK(reply.error().code() == Errc::invalid);
        CHECK(!subscriber.status().value());
        return reply.error().context();
    }

    /// Calls the callback in the process, as a `LocalTransport` does.
    void call(const std::string& token) {
        const auto handler = bus.callbacks().find(token);
        REQUIRE(handler != nullptr);
        (*handler)(Batch{});
    }
};

const std::string url = "https://billing.example/events";

}  // namespace

TEST_CASE("a subscriber that does not exist has no status") {
    Billing billing;
    CHECK(billing.subscriber.token() == "billing");
    CHECK(!billing.subscriber.status().value());
    CHECK(billing.subscriber.remove().value() == Removal::unknown);
    CHECK(billing.subscriber.unsubscribe("orders").value() == Unsubscription::unknown_subscriber);
}

TEST_CASE("a subscription has the requested settings") {
    Billing billing;
    billing.subscriber
        .subscribe({"refunds", "orders"}, {.callback = url,
                                           .uuid = "secret",
                                           .timeout = Duration{1'500},
                                           .max_events = 7,
                                           .max_in_flight = 2})
        .value();
    const auto status = billing.subscriber.status().value().value();
    CHECK(status.subscription == Subscription{"billing", url, "secret", Duration{1'500}, 7, 2});
    CHECK(status.topics == std::vector<std::string>{"orders", "refunds"});
    CHECK(status.health_points == 100);
}

TEST_CASE("omitted settings begin with their defaults and are kept afterwards") {
    Billing billing;
    billing.subscriber.subscribe({"orders"}, {.callback = url}).value();
    CHECK(billing.subscriber.status().value()->subscription ==
          Subscription{"billing", url, "", Duration{500}, 100, 1});
    billing.subscriber.subscribe({"orders"}, {.callback = url, .max_events = 5}).value();
    billing.subscriber.subscribe({"refunds"}, {.callback = url, .uuid = "u"}).value();
    const auto status = billing.subscriber.status().value().value();
    CHECK(status.subscription == Subscription{"billing", url, "u", Duration{500}, 5, 1});
    CHECK(status.topics == std::vector<std::string>{"refunds"});
    billing.subscriber.subscribe({"refunds"}, {.callback = url}).value();
    CHECK(billing.subscriber.status().value()->subscription.uuid.empty());
}

TEST_CASE("an invalid subscription is refused with the name of the field") {
    Billing billing;
    CHECK(billing.refusal({"orders"}, {.callback = ""}).starts_with("callback:"));
    CHECK(billing.refusal({"orders"}, {.callback = "ftp://a.example"}).starts_with("callback:"));
    CHECK(billing.refusal({"orders"}, {.callback = url + "?a=b"}).starts_with("callback:"));
    CHECK(billing.refusal({"Orders"}, {.callback = url}).starts_with("topics:"));
    CHECK(billing.refusal({"orders"}, {.callback = url, .timeout = Duration{-1}})
              .starts_with("timeout:"));
    CHECK(billing.refusal({"orders"}, {.callback = url, .timeout = Duration{3'600'001}})
              .starts_with("timeout:"));
    CHECK(billing.refusal({"orders"}, {.callback = url, .max_events = 0}).starts_with("max:"));
    CHECK(billing.refusal({"orders"}, {.callback = url, .max_in_flight = 0})
              .starts_with("max_in_flight:"));
    auto unnamed = billing.bus.subscriber("No Name");
    CHECK(unnamed.subscribe({"orders"}, {.callback = url})
              .error()
              .context()
              .starts_with("subscriber:"));
    CHECK(billing.bus.topics().value().empty());
}

TEST_CASE("a callback in the process is registered under the subscriber's token") {
    Billing billing;
    int calls = 0;
    billing.subscriber.subscribe({"orders"}, [&](const Batch&) { ++calls; }, {.max_events = 3})
        .value();
    const auto status = billing.subscriber.status().value().value();
    CHECK(status.subscription.callback == "local:billing");
    CHECK(status.subscription.max_events == 3);
    billing.call("billing");
    CHECK(calls == 1);
    CHECK(billing.subscriber.remove().value() == Removal::removed);
    CHECK(billing.bus.callbacks().find("billing") == nullptr);
}

TEST_CASE("a refused subscription leaves the callback in the process unchanged") {
    Billing billing;
    std::string calls;
    const auto subscribe = [&](char mark, std::uint32_t max_events) {
        return billing.subscriber.subscribe({"orders"},
                                            [&calls, mark](const Batch&) { calls += mark; },
                                            {.max_events = max_events});
    };
    CHECK(!subscribe('a', 0));
    CHECK(billing.bus.callbacks().find("billing") == nullptr);
    subscribe('b', 1).value();
    CHECK(!subscribe('c', 0));
    billing.call("billing");
    CHECK(calls == "b");
    Result<void> replied;
    billing.subscriber.subscribe(
        {"No Topic"}, [&](const Batch&) { calls += 'd'; }, {},
        [&](Result<void> reply) { replied = std::move(reply); });
    CHECK(!replied);
    billing.call("billing");
    CHECK(calls == "bb");
    const auto empty = billing.subscriber.subscribe({"orders"}, BatchHandler{});
    REQUIRE_FALSE(empty);
    CHECK(empty.error().context() == "handler: is empty");
    billing.subscriber.subscribe({"orders"}, BatchHandler{}, {},
                                 [&](Result<void> reply) { replied = std::move(reply); });
    CHECK(replied.error().code() == Errc::invalid);
    billing.call("billing");
    CHECK(calls == "bbb");
}

TEST_CASE("a subscription to a single topic can be ended") {
    Billing billing;
    billing.subscriber.subscribe({"orders", "refunds"}, {.callback = url}).value();
    CHECK(billing.subscriber.unsubscribe("orders").value() == Unsubscription::unsubscribed);
    CHECK_MESSAGE(billing.subscriber.unsubscribe("orders").value() == Unsubscription::unknown_topic,
                  "nobody published in it, and its last subscription ended");
    CHECK(billing.subscriber.unsubscribe("none").value() == Unsubscription::unknown_topic);
    CHECK(billing.subscriber.status().value()->topics == std::vector<std::string>{"refunds"});
}

namespace {

/// Fails the only waiting delivery permanently.
void kill_next(Billing& billing) {
    const auto now = billing.clock.now();
    const auto acquired =
        perform(billing.store, AcquireJobs{delivery_queue, Uid{1, 1}, 1}, now).value();
    const auto& lease = acquired.leases.at(0);
    perform(billing.store, BeginDelivery{lease, Duration{0}}, now).value();
    CHECK(perform(billing.store,
                  SettleDelivery{
                      .lease = lease, .begun_at = now, .permanent = true, .error = "HTTP 410"},
                  now)
              .value() == Settlement::dead);
}

const std::vector<std::string> orders{"https://shop.example/1", "https://shop.example/2",
                                      "https://shop.example/3"};

/// Makes three DEAD batches of one order each, and returns them.
std::vector<DeadBatchStatus> three_dead(Billing& billing) {
    billing.subscriber
        .subscribe({"orders"},
                   {.callback = url, .timeout = Duration{0}, .max_events = 1, .attempts_max = 9})
        .value();
    for (const auto& order : orders) {
        billing.bus.publish({.topic = "orders", .type = EventType::update, .url = order}).value();
        kill_next(billing);
        billing.clock.advance(Duration{1});
    }
    return billing.subscriber.dead_batches().value();
}

}  // namespace

TEST_CASE("settings for DEAD batches are kept, for callbacks in the process, too") {
    Billing billing;
    billing.subscriber
        .subscribe({"orders"}, [](const Batch&) {},
                   {.attempts_max = 5, .age_max = Duration{60'000}, .dead_max = 7})
        .value();
    const auto wants = billing.subscriber.status().value()->subscription;
    CHECK(wants.attempts_max == 5);
    CHECK(wants.age_max == Duration{60'000});
    CHECK(wants.dead_max == 7);
    CHECK(wants.dead_letters());
    CHECK(!Subscription{}.dead_letters());
}

TEST_CASE("a subscriber's DEAD batches are listed, shown, redelivered and dropped") {
    Billing billing;
    const auto dead = three_dead(billing);
    REQUIRE(dead.size() == 3);
    CHECK(dead[0].error == "HTTP 410");
    CHECK(billing.subscriber.dead_batches(2).value().size() == 2);
    const auto shown = billing.subscriber.dead_batch(dead[1].uid).value();
    REQUIRE(shown);
    CHECK(shown->status == dead[1]);
    REQUIRE(shown->events.size() == 1);
    CHECK(shown->events[0].url == orders[1]);
    CHECK(!billing.subscriber.dead_batch(Uid{}).value());
    const auto stored = billing.subscriber.dead_messages(dead[1].uid).value();
    REQUIRE(stored);
    CHECK(stored->status == dead[1]);
    REQUIRE(stored->messages.size() == 1);
    CHECK(decode_message(*stored->messages.begin())->url == orders[1]);
    CHECK(!billing.subscriber.dead_messages(Uid{}).value());
    CHECK(billing.subscriber.drop_dead(dead[0].uid).value() == Dropped{1, 1});
    CHECK(billing.subscriber.drop_dead(dead[0].uid).value() == Dropped{});
    CHECK(billing.subscriber.redeliver(dead[1].uid).value() == Count{1});
    CHECK(billing.subscriber.redeliver(dead[1].uid).value() == Count{0});
    CHECK(billing.subscriber.dead_batches().value() == std::vector{dead[2]});
    CHECK(billing.subscriber.status().value()->batches_queued == 1);
}

TEST_CASE(
    "DEAD batches that do not fit in one step are redelivered, or dropped, in several steps") {
    for (const bool redelivered : {true, false}) {
        for (const bool waiting : {true, false}) {
            Billing billing;
            billing.subscriber
                .subscribe({"orders"}, {.callback = url,
                                        .timeout = Duration{0},
                                        .max_events = 1,
                                        .attempts_max = 9,
                                        .dead_max = 10'000})
                .value();
            for (int i = 0; i < 2'500; ++i) {
                billing.bus
                    .publish({.topic = "orders", .type = EventType::update, .url = orders[0]})
                    .value();
                kill_next(billing);
            }
            Result<Count> count = Count{};
            Result<Dropped> dropped = Dropped{};
            auto& subscriber = billing.subscriber;
            if (redelivered && waiting) {
                count = subscriber.redeliver_all();
            } else if (redelivered) {
                subscriber.redeliver_all([&](Result<Count> reply) { count = std::move(reply); });
            } else if (waiting) {
                dropped = subscriber.drop_all_dead();
            } else {
                subscriber.drop_all_dead(
                    [&](Result<Dropped> reply) { dropped = std::move(reply); });
            }
            CHECK(count.value() == Count{redelivered ? 2'500U : 0U});
            CHECK(dropped.value() == (redelivered ? Dropped{} : Dropped{2'500, 2'500}));
            CHECK(subscriber.status().value()->batches_dead == 0);
            CHECK(subscriber.status().value()->batches_queued == (redelivered ? 2'500 : 0));
        }
    }
}

TEST_CASE("every call about DEAD batches also exists with a completion") {
    Billing billing;
    const auto dead = three_dead(billing);
    int replied = 0;
    auto& subscriber = billing.subscriber;
    subscriber.dead_batches(10, std::nullopt, [&](Result<std::vector<DeadBatchStatus>> reply) {
        replied += reply.value() == dead ? 1 : 0;
    });
    subscriber.dead_batch(dead[0].uid, [&](Result<std::optional<DeadBatch>> reply) {
        replied += reply.value()->events.at(0).url == orders[0] ? 1 : 0;
    });
    subscriber.dead_batch(
        Uid{}, [&](Result<std::optional<DeadBatch>> reply) { replied += reply.value() ? 0 : 1; });
    subscriber.dead_messages(dead[0].uid, [&](Result<std::optional<DeadMessages>> reply) {
        replied += reply.value().value().messages.size() == 1 ? 1 : 0;
    });
    subscriber.redeliver(
        dead[0].uid, [&](Result<Count> reply) { replied += reply.value() == Count{1} ? 1 : 0; });
    subscriber.drop_dead(dead[1].uid, [&](Result<Dropped> reply) {
        replied += reply.value() == Dropped{1, 1} ? 1 : 0;
    });
    subscriber.redeliver_all(
        [&](Result<Count> reply) { replied += reply.value() == Count{1} ? 1 : 0; });
    subscriber.drop_all_dead(
        [&](Result<Dropped> reply) { replied += reply.value() == Dropped{} ? 1 : 0; });
    CHECK(replied == 8);
}

TEST_CASE("a subscriber's queued batches are listed, found, delivered on request and dropped") {
    Billing billing;
    auto& subscriber = billing.subscriber;
    subscriber
        .subscribe({"orders"}, {.callback = url, .timeout = Duration{60'000}, .max_events = 2})
        .value();
    for (const auto& order : orders) {
        billing.bus.publish({.topic = "orders", .type = EventType::update, .url = order}).value();
    }
    const auto queued = subscriber.batches().value();
    REQUIRE(queued.size() == 2);
    CHECK(queued[0].status.events == 2);
    CHECK(queued[0].delivery == JobStatus::State::ready);
    CHECK(queued[1].status.current);
    CHECK(queued[1].run_at == billing.clock.now() + Duration{60'000});
    const auto first = queued[0].status.uid;
    const auto second = queued[1].status.uid;
    CHECK(subscriber.batches(1).value() == std::vector{queued[0]});
    CHECK(subscriber.batches(9, first).value() == std::vector{queued[1]});
    CHECK(subscriber.batch(second).value() == queued[1]);
    CHECK(!subscriber.batch(Uid{}).value());
    CHECK(subscriber.deliver_now(second).value() == BatchAction::done);
    CHECK(subscriber.batch(second).value()->delivery == JobStatus::State::ready);
    CHECK(subscriber.drop(first).value() == BatchAction::done);
    CHECK(subscriber.drop(first).value() == BatchAction::unknown);

    int replied = 0;
    subscriber.batches(9, std::nullopt, [&](Result<std::vector<QueuedBatch>> reply) {
        replied += reply.value().size() == 1 ? 1 : 0;
    });
    subscriber.batch(second, [&](Result<std::optional<QueuedBatch>> reply) {
        replied += reply.value().has_value() ? 1 : 0;
    });
    subscriber.deliver_now(second, [&](Result<BatchAction> reply) {
        replied += reply.value() == BatchAction::done ? 1 : 0;
    });
    subscriber.drop(second, [&](Result<BatchAction> reply) {
        replied += reply.value() == BatchAction::done ? 1 : 0;
    });
    CHECK(replied == 4);
    CHECK(subscriber.batches().value().empty());
}

TEST_CASE("copies of a subscriber handle refer to one subscriber") {
    Billing billing;
    auto copy = billing.subscriber;
    copy.subscribe({"orders"}, {.callback = url}).value();
    CHECK(billing.subscriber.status().value());
}

TEST_CASE("every call of a subscriber also exists with a completion") {
    Billing billing;
    int replied = 0;
    billing.subscriber.subscribe({"orders"}, {.callback = url},
                                 [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    billing.subscriber.subscribe({"orders"}, {.callback = "nowhere"},
                                 [&](const Result<void>& reply) { replied += reply ? 0 : 1; });
    billing.subscriber.subscribe(
        {"orders", "refunds"}, [](const Batch&) {}, {},
        [&](const Result<void>& reply) { replied += reply ? 1 : 0; });
    billing.subscriber.status([&](Result<std::optional<SubscriberStatus>> reply) {
        replied += reply.value()->subscription.callback == "local:billing" ? 1 : 0;
    });
    billing.subscriber.unsubscribe("refunds", [&](Result<Unsubscription> reply) {
        replied += reply.value() == Unsubscription::unsubscribed ? 1 : 0;
    });
    billing.subscriber.remove(
        [&](Result<Removal> reply) { replied += reply.value() == Removal::removed ? 1 : 0; });
    CHECK(replied == 6);
    CHECK(billing.bus.callbacks().find("billing") == nullptr);
}
