/// @file
/// What a file keeps of queues that are paused.

#include <doctest/doctest.h>

#include <string>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("a file keeps which queues are paused") {
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
