/// @file
/// Idempotency keys in a file.

#include <doctest/doctest.h>

#include <string>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE(
    "a file keeps idempotency keys, with the replies to their pushes, until the keys expire") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    constexpr Duration time{1'000'000};
    FileScene scene{options};
    const auto push = [&scene](const std::string& job, const std::string& key) {
        PushJob step{"work", job, scene.now};
        step.idempotency_key = {.text = key, .fingerprint = UINT64_MAX, .time = time};
        return step;
    };
    const auto first = scene.must(push("a", "first"));
    const auto second = scene.must(push("a", "second"));
    REQUIRE(second == Pushed{PushOutcome::duplicate, first.id});
    scene.must(AckJob{take(scene)});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    scene.now += time - Duration{1};
    CHECK(scene.must(push("a", "first")) == first);
    CHECK(scene.must(push("a", "second")) == second);
    auto other = push("b", "first");
    other.idempotency_key.fingerprint = 1;
    CHECK(scene.perform(other).error().code() == Errc::invalid);
    CHECK(scene.queue("work") == QueueStatus{});
    scene.close();
    scene.open(options);
    scene.now += Duration{1};
    CHECK(scene.must(push("a", "first")) == PushOutcome::pushed);
    CHECK(scene.queue("work") == QueueStatus{.ready = 1});
}
