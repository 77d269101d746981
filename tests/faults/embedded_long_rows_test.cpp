/// @file
/// Submissions that do not fit into one row of the journal.

#include <doctest/doctest.h>

#include <cstdint>
#include <latch>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "disk.hpp"
#include "file_scene.hpp"
#include "routemaster/error.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("steps that together are too large for one row of a file are written in several rows") {
    FileScene scene{{.row_bytes_max = 1'000'000}};
    std::vector<Step> steps;
    for (int i = 0; i < 15; ++i) {
        steps.emplace_back(scene.job(std::to_string(i) + std::string(300'000, 'x')));
    }
    for (auto& outcome : perform_all(*scene.store, steps, scene.now)) {
        CHECK(reply_of<PushJob>(outcome).value() == PushOutcome::pushed);
    }
    CHECK(scene.store->backup(scene.file.string() + ".copy").value().rows >= 5);
    // Later changes are in later rows.
    scene.must(scene.job("last"));
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == 16);
}

TEST_CASE("a step larger than the largest row is invalid, and the rest of its submission is done") {
    FileScene scene{{.row_bytes_max = 1'000'000}};
    std::vector<Step> steps;
    for (const auto bytes : {1U, 1'000'001U, 2U}) {
        steps.emplace_back(scene.job(std::string(bytes, 'x')));
    }
    auto outcomes = perform_all(*scene.store, steps, scene.now);
    REQUIRE(outcomes.size() == 3);
    CHECK(reply_of<PushJob>(outcomes[0]).value() == PushOutcome::pushed);
    CHECK(reply_of<PushJob>(outcomes[1]).error().code() == Errc::invalid);
    CHECK(reply_of<PushJob>(outcomes[2]).value() == PushOutcome::pushed);
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == 2);
}

TEST_CASE("a long row of a file is not extended, and waiting submissions are all written") {
    Disk disk;
    FileScene scene;
    constexpr std::uint64_t submissions = 33;
    std::latch left{submissions};
    const auto submit = [&](std::string job) {
        Step push{scene.job(std::move(job))};
        scene.store->submit({&push, 1}, scene.now, [&left](std::span<Outcome> outcomes) {
            CHECK(outcomes.front());
            left.count_down();
        });
    };
    {
        // While the first submission is written, the further ones are gathered.
        SuspendedSyncs suspended{disk};
        submit("first");
        suspended.wait();
        for (std::uint64_t i = 1; i < submissions; ++i) {
            submit(std::to_string(i) + std::string(1U << 20U, 'x'));
        }
    }
    left.wait();
    // One row for the first submission, and one row for each 8 of the further ones.
    CHECK(scene.store->backup(scene.file.string() + ".copy").value().rows == 5);
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == submissions);
}
