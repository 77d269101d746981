/// @file
/// Paused queues and rate limits in a file.

#include <doctest/doctest.h>

#include <string>

#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "support/temporary_folder.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a file keeps the paused state of queues") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    scene.must(scene.job("a"));
    for (const char* queue : {"work", "resumed", "empty"}) scene.must(PauseQueue{queue, true});
    scene.must(PauseQueue{"resumed", false});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(scene.queue("work") == QueueStatus{.ready = 1, .paused = true});
    CHECK(scene.queue("resumed") == QueueStatus{});
    CHECK(scene.queue("empty") == QueueStatus{.paused = true});
    CHECK(scene.must(AcquireJobs{"work", scene.worker, 1}).leases.empty());
    for (const char* queue : {"work", "empty"}) scene.must(PauseQueue{queue, false});
    scene.close();
    scene.open(options);
    CHECK(scene.queue("empty") == QueueStatus{});
    CHECK(take(scene).job == "a");
}

TEST_CASE("a file has at most as many queues and namespaces of timers as its options say") {
    const TemporaryFolder folder;
    EmbeddedStore store{folder.path() / "bus.sqlite", {.queues_max = 1, .timer_namespaces_max = 1}};
    const TimePoint now = from_milliseconds(1'000);
    const auto push = [&](const char* queue) {
        return perform(store, PushJob{queue, "job", now}, now);
    };
    const auto post = [&](const char* space) {
        const PostTimer timer{
            .space = space, .id = "a", .payload = encode(Value{1}), .due_at = now};
        return perform(store, timer, now);
    };
    CHECK(push("first"));
    CHECK(push("second").error().code() == Errc::limit_exceeded);
    CHECK(post("first"));
    CHECK(post("second").error().code() == Errc::limit_exceeded);
}

TEST_CASE("a file keeps rate limits, and a restart adds no tokens") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    const RateLimit slow{.jobs = 1, .per = Duration{10'000}, .burst = 2};
    const RateLimits limits{.queue = RateLimit{.jobs = 5, .per = Duration{1'000}, .burst = 9},
                            .each_group = slow};
    const auto limits_of = [&](const std::string& name) {
        for (const auto& queue : scene.must(ListQueues{})) {
            if (queue.name == name) return queue.limits;
        }
        return RateLimits{};
    };
    const auto begin = [&] {
        return scene.must(AcquireJobs{"work", scene.worker, 100}).leases.size();
    };
    for (int i = 0; i < 6; ++i) {
        auto push = scene.job("job " + std::to_string(i));
        push.options.group = "g";
        push.options.concurrency = 100;
        scene.must(push);
    }
    scene.must(LimitQueue{"work", {.queue = slow}});
    scene.must(LimitQueue{"work", limits});
    scene.must(LimitQueue{"empty", {.queue = slow}});
    scene.must(LimitQueue{"empty", {.each_group = slow}});
    scene.must(LimitQueue{"free", {.queue = slow}});
    scene.must(LimitQueue{"free", {}});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    CHECK(begin() == 2);
    for (int restarts = 0; restarts < 3; ++restarts) {
        scene.close();
        scene.open(options);
        CHECK(limits_of("work") == limits);
        CHECK(limits_of("empty") == RateLimits{.each_group = slow});
        CHECK(limits_of("free") == RateLimits{});
        CHECK(begin() == 0);
        scene.now += Duration{9'999};
        CHECK(begin() == 0);
        scene.now += Duration{1};
        CHECK(begin() == 1);
    }
    scene.must(LimitQueue{"work", {}});
    scene.must(LimitQueue{"empty", {}});
    scene.close();
    scene.open(options);
    CHECK(limits_of("work") == RateLimits{});
    auto begun = begin();
    // Jobs whose process died twice have to wait.
    scene.now += Duration{60'000};
    begun += begin();
    CHECK(begun == 6);
}
