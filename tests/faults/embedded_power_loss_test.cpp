/// @file
/// The embedded store after a power failure: acknowledged steps survive as promised.

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// Publishes 1, 2, 3… from a thread, and counts submitted and acknowledged events.
class Publishing {
public:
    explicit Publishing(FileScene& scene)
        : thread_{[this, &scene](const std::stop_token& stopped) {
              while (!stopped.stop_requested()) {
                  const auto number = ++submitted_;
                  scene.publish(std::to_string(number));
                  acknowledged_ = number;
              }
          }} {}

    [[nodiscard]] int submitted() const { return submitted_; }
    [[nodiscard]] int acknowledged() const { return acknowledged_; }

private:
    std::atomic<int> submitted_ = 0;
    std::atomic<int> acknowledged_ = 0;
    std::jthread thread_;
};

/// The number of events found after a power failure at this moment. Checks for the first published
/// events, in order.
int left_by_power_loss(const Disk& disk, const FileScene& scene, int round) {
    const auto copy = scene.folder.path() / ("left" + std::to_string(round));
    disk.copy_synced(scene.file, copy);
    FileScene left;
    left.open_at(copy);
    if (!left.must(FindSubscriber{"billing"})) return 0;
    const auto messages = left.drain();
    CHECK(joined(messages) == joined(numbers(1, static_cast<int>(messages.size()))));
    return static_cast<int>(messages.size());
}

}  // namespace

TEST_CASE("with durability=strict, all acknowledged data survives a power loss at any moment") {
    // A checkpoint copies the log into the file after 1,000 pages, several times in this test. The
    // small slack allows the head of the journal to be freed meanwhile.
    Disk disk;
    FileScene scene{{.slack_max = 20'000}};
    scene.subscribe("billing", 20);
    int after = 0;
    {
        const Publishing publishing{scene};
        for (int round = 0; round < 25; ++round) {
            while (publishing.acknowledged() < after + 60) std::this_thread::yield();
            after = publishing.acknowledged();
            const int left = left_by_power_loss(disk, scene, round);
            CHECK(left >= after);
            CHECK(left <= publishing.submitted());
        }
    }
    CHECK(disk.syncs() > 1'500);
}

TEST_CASE("with durability=relaxed, a power loss costs only the newest acknowledged data") {
    Disk disk;
    FileScene scene{{.durability = Durability::relaxed}};
    scene.subscribe("billing", 20);
    int published = 0;
    int round = 0;
    for (int burst = 0; burst < 5; ++burst) {
        const int kept = published;
        for (int n = 0; n < 100; ++n) scene.publish(std::to_string(++published));
        // All changes are soon on disk, although no step waits for this. Changes that were once on
        // disk stay.
        for (int left = 0; left < published; ++round) {
            REQUIRE(round < 100'000);
            left = left_by_power_loss(disk, scene, round);
            CHECK(left >= kept);
        }
    }
}

TEST_CASE("a new file survives a power loss, with or without writes") {
    Disk disk;
    FileScene scene;
    CHECK(left_by_power_loss(disk, scene, 0) == 0);
    scene.subscribe("billing");
    scene.publish("1");
    CHECK(left_by_power_loss(disk, scene, 1) == 1);
}
