/// @file
/// Priorities of jobs in a file.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a file keeps the priorities of jobs") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    const auto push = [&](const std::string& job, std::int32_t priority) {
        scene.must(PushJob{"work", job, scene.now, {.priority = priority}});
    };
    push("low", -1);
    push("plain", 0);
    push("high", 2);
    push("higher", 3);
    scene.must(NackJob{take(scene), scene.now});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(scene.queue("work") == QueueStatus{.ready = 4});
    for (const char* job : {"higher", "high", "plain", "low"}) CHECK(take(scene).job == job);
}
