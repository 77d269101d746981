#include "routemaster/admission_control.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "routemaster/store/memory.hpp"
#include "routemaster/store/perform.hpp"
#include "support/disturbed_store.hpp"
#include "support/recorded_log.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A subscriber with one event per batch, behind an admission control. It refuses events above
/// 1,000 bytes and accepts events again below 900.
struct FillingScene {
    FillingScene() {
        perform(
            store,
            Subscribe{
                "billing", {"orders"}, {.callback = "https://billing.example/", .max_events = 1}},
            now)
            .value();
        guard.poll(now);
    }

    /// Lets an interval pass.
    void look() {
        now += Duration{1'000};
        guard.poll(now);
        guard.poll(now);
    }

    Result<Done> publish(std::size_t bytes) {
        return perform(guard,
                       PublishEvent{.topic = "orders",
                                    .publisher = std::nullopt,
                                    .message = std::string(bytes, 'x'),
                                    .timestamp = now,
                                    .uid = uids.next()},
                       now);
    }

    MemoryStore store;
    DisturbedStore disturbed{store};
    RecordedLog log;
    AdmissionControl guard{
        disturbed, {.capacity = {.bytes_max = 1'100, .bytes_free_min = 100}, .log = log.sink()}};
    TimePoint now = from_milliseconds(1'700'000'000'000);
    UidSource uids{1, 2};
};

bool is_full(const Result<Done>& reply) {
    return !reply && reply.error().code() == Errc::unavailable;
}

}  // namespace

TEST_CASE("a full store refuses new events until there is space again") {
    FillingScene scene;
    for (int i = 0; i < 10; ++i) CHECK(scene.publish(100).has_value());
    CHECK(!scene.guard.full());
    CHECK_MESSAGE(scene.publish(1).has_value(), "the event that fills it is still accepted");
    CHECK(is_full(scene.publish(1)));
    scene.look();
    CHECK(is_full(scene.publish(1)));
    CHECK(scene.log.count(LogLevel::error,
                          "new events and jobs are refused: the store takes 1001 "
                          "of 1100 bytes") == 1);

    perform(scene.guard, DropOldestBatches{1}, scene.now).value();
    scene.look();
    CHECK_MESSAGE(is_full(scene.publish(1)), "901 bytes are not below the low mark");
    perform(scene.guard, DropOldestBatches{1}, scene.now).value();
    scene.look();
    CHECK(scene.publish(1).has_value());
    CHECK(scene.log.count(LogLevel::info,
                          "new events and jobs are accepted again: the store takes "
                          "801 of 1100 bytes") == 1);
}

TEST_CASE("a full store refuses only publications and pushes, and keeps the order of all steps") {
    FillingScene scene;
    CHECK(scene.publish(1'001).has_value());
    REQUIRE(scene.guard.full());
    std::vector<Step> steps{PushJob{"work", "a", scene.now},
                            AcquireJobs{delivery_queue, scene.uids.next(), 1},
                            PushJob{"work", "b", scene.now}, CountJobs{"work"}};
    const auto outcomes = perform_all(scene.guard, steps, scene.now);
    REQUIRE(outcomes.size() == 4);
    CHECK(outcomes[0].error().code() == Errc::unavailable);
    CHECK(std::get<Acquired>(*outcomes[1]).leases.size() == 1);
    CHECK(outcomes[2].error().code() == Errc::unavailable);
    CHECK(std::get<QueueStatus>(*outcomes[3]) == QueueStatus{});
}

TEST_CASE("the size of steps accepted during a measurement of the store is added to the result") {
    FillingScene scene;
    CHECK(scene.publish(600).has_value());
    scene.disturbed.delay<MeasureUse>();
    scene.look();
    CHECK(scene.publish(300).has_value());
    scene.disturbed.release();
    scene.guard.poll(scene.now);
    CHECK(!scene.guard.full());
    CHECK(scene.publish(101).has_value());
    CHECK(scene.guard.full());
}

TEST_CASE("setting the clock back does not stop the measurements of the store") {
    FillingScene scene;
    REQUIRE(scene.disturbed.times_of<MeasureUse>().size() == 1);
    scene.now -= Duration{3'600'000};
    scene.guard.poll(scene.now);
    CHECK(scene.disturbed.times_of<MeasureUse>().size() == 2);
}

TEST_CASE("the limit of a store that cannot be measured uses the last measurement") {
    FillingScene scene;
    scene.disturbed.refuse<MeasureUse>(2);
    scene.look();
    scene.look();
    CHECK(scene.log.count(LogLevel::warning, "cannot measure how much space the store takes: ") ==
          1);
    CHECK(scene.publish(1'001).has_value());
    CHECK(is_full(scene.publish(1)));
    scene.look();
    CHECK(scene.guard.full());
    scene.guard.close(scene.now);
    scene.look();
    CHECK(scene.guard.closed());
}
