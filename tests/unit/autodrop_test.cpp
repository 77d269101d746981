#include "routemaster/autodrop.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "routemaster/bus.hpp"
#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/testing/manual_clock.hpp"
#include "support/disturbed_store.hpp"
#include "support/hand_runner.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A store that reports the size set by the test.
class WeighedStore final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;

    void submit(std::span<Step> steps, TimePoint now, Completion done) override {
        const bool asked = steps.size() == 1 && std::holds_alternative<MeasureUse>(steps.front());
        if (!asked || !bytes) return next().submit(steps, now, std::move(done));
        std::vector<Outcome> outcomes{Outcome{Reply{StoreUse{*bytes}}}};
        done(outcomes);
    }

    std::optional<std::uint64_t> bytes;  ///< Nothing for the real use.
};

/// A bus with one event per batch, and its autodrop.
struct AutodropScene {
    explicit AutodropScene(CapacityOptions capacity)
        : autodrop{disturbed,
                   {.capacity = capacity, .interval = Duration{10'000}, .log = log.sink()}} {
        bus.subscriber("billing")
            .subscribe({"orders"}, {.callback = "https://billing.example", .max_events = 1})
            .value();
    }

    /// Publishes orders. Their numbers start at 1 and continue through the scene.
    void publish(int count) {
        for (int i = 0; i < count; ++i) {
            bus.publish({.topic = "orders",
                         .type = EventType::update,
                         .url = "https://shop.example/orders/" +
                                std::to_string(1'000'000 + ++published)})
                .value();
        }
    }

    void run() { runner.run(clock.now()); }

    void run_for(Duration span) {
        const auto end = clock.now() + span;
        while (runner.run(clock.now()) <= end) clock.set(runner.next());
        clock.set(end);
    }

    [[nodiscard]] std::uint64_t batches() {
        return bus.subscriber("billing").status().value().value().batches_queued;
    }
    [[nodiscard]] std::uint64_t bytes() {
        return perform(store, MeasureUse{}, clock.now()).value().bytes;
    }
    [[nodiscard]] std::size_t drops() { return disturbed.times_of<DropOldestBatches>().size(); }

    testing::ManualClock clock;
    MemoryStore store;
    WeighedStore weighed{store};
    DisturbedStore disturbed{weighed};
    Bus bus{store, {.clock = &clock}};
    RecordedLog log;
    int published = 0;
    Autodrop autodrop;
    HandRunner runner{autodrop};
};

/// The bytes of one order.
std::uint64_t order_bytes() {
    AutodropScene scene{{}};
    scene.publish(1);
    return scene.bytes();
}

/// A capacity of `orders` orders, of which `free` must stay free.
CapacityOptions capacity_for(std::uint64_t orders, std::uint64_t free) {
    return {.bytes_max = orders * order_bytes(), .bytes_free_min = free * order_bytes()};
}

}  // namespace

TEST_CASE(
    "the limits for dropping batches are computed from the free space and the greatest memory "
    "use") {
    const auto marks = [](CapacityOptions capacity) {
        return std::pair{capacity.low_mark(), capacity.high_mark()};
    };
    using Marks = std::pair<std::uint64_t, std::uint64_t>;
    CHECK(marks({}) == Marks{80'000'000, 90'000'000});
    CHECK(marks({.bytes_max = 10, .bytes_free_min = 7}) == Marks{0, 3});
    CHECK(marks({.bytes_max = 10, .bytes_free_min = 11}) == Marks{0, 0});
    CHECK(marks({.bytes_max = UINT64_MAX, .bytes_free_min = 0}) == Marks{UINT64_MAX, UINT64_MAX});
}

TEST_CASE("no batch is dropped up to the high memory limit") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(900);
    scene.run();
    CHECK(scene.drops() == 0);
    CHECK(scene.batches() == 900);
    CHECK(scene.log.count(LogLevel::warning, "") == 0);
}

TEST_CASE("above the high memory limit, the oldest batches are dropped down to the low limit") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(901);
    scene.run();
    // 801 batches would be above the low limit; 701 are below it.
    CHECK(scene.batches() == 701);
    CHECK(scene.bytes() < capacity_for(1'000, 100).low_mark());
    CHECK(scene.log.count(LogLevel::warning, "dropped the oldest 100 batches, with 100 events") ==
          2);
    CHECK(scene.log.count(LogLevel::info, "there is enough space again") == 1);
    const auto left = perform(scene.store, ListBatches{"billing"}, scene.clock.now()).value();
    CHECK(left.size() == 701);

    // Autodrop waits until the next interval.
    CHECK(scene.runner.next() == scene.clock.now() + Duration{10'000});
    scene.run_for(Duration{60'000});
    CHECK(scene.drops() == 2);
}

TEST_CASE("memory use equal to the low limit still counts as too high") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(1'000);
    scene.run();
    // 900 and 800 batches are exactly at the limits, not below.
    CHECK(scene.batches() == 700);
}

TEST_CASE("between the two memory limits no batch is dropped, whether the use rises or falls") {
    AutodropScene scene{capacity_for(1'000, 200)};
    scene.publish(700);
    scene.run_for(Duration{30'000});
    CHECK(scene.drops() == 0);
    scene.publish(101);
    scene.run_for(Duration{10'000});
    CHECK(scene.batches() == 501);
    scene.publish(200);
    scene.run_for(Duration{30'000});
    CHECK(scene.batches() == 701);
}

TEST_CASE("the memory use is checked at once, and then at every interval") {
    AutodropScene scene{{}};
    const auto begin = scene.clock.now();
    scene.run_for(Duration{25'000});
    CHECK(scene.disturbed.times_of<MeasureUse>() ==
          std::vector{begin, begin + Duration{10'000}, begin + Duration{20'000}});
}

TEST_CASE("setting the clock back does not stop the checks of the memory use") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.run();
    scene.clock.advance(Duration{-3'600'000});
    scene.publish(901);
    scene.runner.wake();
    scene.run();
    CHECK(scene.batches() == 701);
}

TEST_CASE("autodrop stops when no batch remains, logs this once, and checks again later") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(150);
    scene.weighed.bytes = UINT64_MAX;
    scene.run();
    CHECK(scene.batches() == 0);
    CHECK(scene.drops() == 3);
    CHECK(scene.log.count(LogLevel::warning, "dropped the oldest 100 batches") == 1);
    CHECK(scene.log.count(LogLevel::warning, "dropped the oldest 50 batches") == 1);
    CHECK(scene.log.count(LogLevel::error, "there is no batch left to drop") == 1);

    scene.run_for(Duration{30'000});
    CHECK(scene.drops() == 6);
    CHECK(scene.log.count(LogLevel::error, "") == 1);

    // Autodrop logs the error again after the use was low in between.
    scene.weighed.bytes = 0;
    scene.run_for(Duration{10'000});
    scene.weighed.bytes = UINT64_MAX;
    scene.run_for(Duration{10'000});
    CHECK(scene.log.count(LogLevel::error, "") == 2);
}

TEST_CASE("one poll of autodrop performs at most one step of the store") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(2'000);
    Autodrop autodrop{scene.disturbed, {.capacity = capacity_for(1'000, 100)}};
    for (std::size_t polls = 1; polls <= 10; ++polls) {
        CHECK(autodrop.poll(scene.clock.now()) == scene.clock.now());
        CHECK(scene.drops() + scene.disturbed.times_of<MeasureUse>().size() == polls);
    }
}

TEST_CASE("a store that does not report its memory use is asked again after an interval") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(901);
    scene.disturbed.refuse<MeasureUse>(3);
    scene.run_for(Duration{29'999});
    CHECK(scene.drops() == 0);
    CHECK(scene.log.count(LogLevel::warning, "cannot measure how much space") == 1);
    scene.run_for(Duration{1});
    CHECK(scene.batches() == 701);

    scene.disturbed.refuse<MeasureUse>(1);
    scene.run_for(Duration{10'000});
    CHECK(scene.log.count(LogLevel::warning, "cannot measure how much space") == 2);
}

TEST_CASE("a drop that the store refused is retried after an interval, down to the low limit") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(950);
    SUBCASE("the request is lost") {
        scene.disturbed.refuse<DropOldestBatches>(1);
        scene.run();
        CHECK(scene.batches() == 950);
        CHECK(scene.log.count(LogLevel::warning, "cannot drop batches") == 1);
        scene.run_for(Duration{9'999});
        CHECK(scene.batches() == 950);
        scene.run_for(Duration{1});
        CHECK(scene.batches() == 750);
    }
    SUBCASE("the reply is lost, and the drop is not repeated") {
        scene.disturbed.lose_replies<DropOldestBatches>(1);
        scene.run();
        CHECK(scene.batches() == 850);
        CHECK(scene.log.count(LogLevel::warning, "batches may have been dropped") == 1);
        scene.run_for(Duration{9'999});
        CHECK(scene.batches() == 850);
        scene.run_for(Duration{1});
        CHECK_MESSAGE(scene.batches() == 750, "850 are between the limits; it was going down");
    }
}

TEST_CASE("closing autodrop waits for a reply of the store that is under way") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(2'000);
    const auto close = [&](Duration grace) {
        scene.autodrop.close(scene.clock.now() + grace);
        scene.runner.wake();
        scene.run();
    };
    SUBCASE("autodrop is idle") {
        scene.run();
        const auto measurements = scene.disturbed.times_of<MeasureUse>().size();
        close(Duration{1'000});
        CHECK(scene.autodrop.closed());
        scene.publish(2'000);
        scene.run_for(Duration{60'000});
        scene.runner.wake();
        scene.run();
        CHECK(scene.batches() > 2'000);
        CHECK(scene.disturbed.times_of<MeasureUse>().size() == measurements);
    }
    SUBCASE("the store is measuring") {
        scene.disturbed.delay<MeasureUse>();
        scene.run();
        close(Duration{1'000});
        CHECK(!scene.autodrop.closed());
        scene.disturbed.release();
        scene.run();
        CHECK(scene.autodrop.closed());
        CHECK_MESSAGE(scene.batches() == 2'000, "nothing new is begun");
    }
    SUBCASE("the store is dropping") {
        scene.disturbed.delay<DropOldestBatches>();
        scene.run();
        close(Duration{1'000});
        CHECK(!scene.autodrop.closed());
        scene.disturbed.release();
        scene.run();
        CHECK(scene.autodrop.closed());
        CHECK(scene.batches() == 1'900);
        CHECK(scene.disturbed.times_of<MeasureUse>().size() == 1);
        CHECK(scene.log.count(LogLevel::warning, "dropped the oldest 100 batches") == 1);
    }
    SUBCASE("the store does not reply in time") {
        scene.disturbed.delay<MeasureUse>();
        scene.run();
        close(Duration{1'000});
        scene.run_for(Duration{5'999});
        CHECK(!scene.autodrop.closed());
        scene.run_for(Duration{1});
        scene.run();
        CHECK(scene.autodrop.closed());
    }
    SUBCASE("the store is dropping, and there is no time") {
        scene.disturbed.delay<DropOldestBatches>();
        scene.run();
        close(Duration{0});
        CHECK(!scene.autodrop.closed());
        scene.disturbed.release();
        scene.run();
        CHECK(scene.autodrop.closed());
        CHECK(scene.log.count(LogLevel::warning, "dropped the oldest 100 batches") == 1);
    }
    CHECK(scene.runner.next() == never);
}

TEST_CASE("a reply of the store after the end of autodrop does no harm") {
    AutodropScene scene{capacity_for(1'000, 100)};
    scene.publish(2'000);
    scene.disturbed.delay<MeasureUse>();
    {
        Autodrop brief{scene.disturbed, {.capacity = capacity_for(1'000, 100)}};
        CHECK(brief.poll(scene.clock.now()) == never);
    }
    scene.disturbed.release();
    CHECK(scene.batches() == 2'000);
}
