/// @file
/// A job and its dependents, when the process or the machine ends in the middle.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE(
    "after a crash at any write, the file has a job and all its dependents, or none of them") {
    constexpr std::size_t waiting = 100;
    Disk disk;
    bool failed = true;
    for (std::uint64_t nth = 1; failed; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        FileScene scene;
        const auto a = scene.must(scene.job("a")).id;
        for (std::size_t i = 0; i < waiting; ++i) {
            auto push = scene.job(std::to_string(i));
            push.after = {a};
            scene.must(push);
        }
        const AckJob step{take(scene)};
        disk.fail_changes(nth, true);
        const bool acknowledged = scene.perform(step).has_value();
        failed = disk.failures() > 0;
        const auto copy = scene.folder.path() / "after-power-loss.db";
        disk.copy_synced(scene.file, copy);
        scene.close();
        disk.heal();
        FileScene left;
        left.open_at(copy);
        const auto jobs = left.queue("work");
        const bool done = jobs == QueueStatus{.ready = waiting};
        CHECK((done || jobs == QueueStatus{.scheduled = waiting, .ready = 1}));
        CHECK((done || !acknowledged));
    }
}
