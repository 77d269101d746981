/// @file
/// Submissions that are too much for one row of the journal.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <latch>
#include <span>
#include <string>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/error.hpp"

using namespace routemaster;
using namespace routemaster::test;

TEST_CASE("steps that are too much for one row of a file go into several, and all are there") {
    FileScene scene{{.row_bytes_max = 1'000'000}};
    std::vector<Step> steps;
    for (int i = 0; i < 15; ++i) {
        steps.emplace_back(scene.job(std::to_string(i) + std::string(300'000, 'x')));
    }
    for (auto& outcome : perform_all(*scene.store, steps, scene.now)) {
        CHECK(reply_of<PushJob>(outcome).value() == PushOutcome::pushed);
    }
    CHECK(scene.store->backup(scene.file.string() + ".copy").value().rows >= 5);
    // Those that come next stand behind them.
    scene.must(scene.job("last"));
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == 16);
}

TEST_CASE("a step that no row of a file takes is invalid, and no other of its submission") {
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

TEST_CASE("a long row of a file takes no further submission, and what waits is all written") {
    FileScene scene;
    constexpr std::size_t mebibyte = 1U << 20U;
    constexpr std::uint64_t submissions = 64;
    std::latch left{submissions};
    // While the first of them is written, the others gather.
    for (std::uint64_t i = 0; i < submissions; ++i) {
        std::vector<Step> steps{scene.job(std::to_string(i) + std::string(mebibyte, 'x'))};
        scene.store->submit(steps, scene.now, [&left](std::span<Outcome> outcomes) {
            CHECK(outcomes.front());
            left.count_down();
        });
    }
    left.wait();
    // Each row begins another one once it has 8 of these.
    CHECK(scene.store->backup(scene.file.string() + ".copy").value().rows >= submissions / 8);
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == submissions);
}
