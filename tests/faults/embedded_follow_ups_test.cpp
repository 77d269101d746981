/// @file
/// A job and its follow-ups, when the process or the machine ends in the middle.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr std::size_t pushes = 100;
constexpr std::size_t events = 20;

/// Completes the next job, with follow-ups that take several pages of the file.
CompleteJob large_completion(FileScene& scene) {
    CompleteJob step{take(scene)};
    for (std::size_t i = 0; i < pushes; ++i) {
        step.pushes.push_back({"next", std::to_string(i) + std::string(500, 'x'), scene.now});
    }
    for (std::size_t i = 0; i < events; ++i) {
        step.publications.push_back(scene.event(std::to_string(i) + std::string(500, 'y')));
    }
    return step;
}

/// Whether the job is gone. Checks that its follow-ups exist exactly in this case.
bool happened(FileScene& scene) {
    const bool gone = scene.queue("work") == QueueStatus{};
    CHECK(scene.queue("next") == QueueStatus{.ready = gone ? pushes : 0});
    CHECK(scene.status("billing").events_queued == (gone ? events : 0));
    return gone;
}

}  // namespace

TEST_CASE(
    "after a crash at any write, either the job or all of its follow-up jobs and events remain") {
    Disk disk;
    bool failed = true;
    int neither = 0;
    for (std::uint64_t nth = 1; failed; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        FileScene scene;
        scene.subscribe("billing");
        scene.must(scene.job("a"));
        const auto step = large_completion(scene);
        disk.fail_changes(nth, true);
        const bool acknowledged = scene.perform(step).has_value();
        failed = disk.failures() > 0;
        // Writes after the sync may fail, too.
        CHECK((acknowledged || failed));

        const auto copy = scene.folder.path() / "after-power-loss.db";
        disk.copy_synced(scene.file, copy);
        scene.close();
        disk.heal();
        {
            FileScene left;
            left.open_at(copy);
            CHECK((!acknowledged || happened(left)));
            if (!acknowledged && !happened(left)) ++neither;
        }
        scene.open();
        const bool done = happened(scene);
        CHECK((!acknowledged || done));
    }
    CHECK(neither >= 2);
}

TEST_CASE("a full disk loses neither a job nor its follow-up jobs and events") {
    Disk disk;
    FileScene scene;
    scene.subscribe("billing");
    scene.must(scene.job("a"));
    const auto step = large_completion(scene);
    disk.fail_changes(1, true);
    CHECK(scene.perform(step).error().code() == Errc::unavailable);
    disk.heal();
    // The lease stays valid, and the same step is repeated until it succeeds.
    Result<Completed> completed = Completed{};
    do {
        completed = scene.perform(step);
    } while (!completed && completed.error().code() == Errc::unavailable);
    REQUIRE(completed);
    CHECK(completed->settlement == Settlement::settled);
    CHECK(happened(scene));
    scene.close();
    scene.open();
    CHECK(happened(scene));
}
