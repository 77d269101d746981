// Runs scripts/chaos for ten seconds instead of a minute, and checks the checker with records that
// violate its rules.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "chaos/chaos.hpp"
#include "support/programs.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::test;
using std::chrono::milliseconds;

namespace {

/// A correct record: a job ran in one process, which stalled from 100 to 5,000 ms, and then in a
/// second process.
struct ChaosScene {
    ChaosScene() {
        record.workers.push_back({milliseconds{0}, milliseconds{9'000}, {}});
        for (int ms = 0; ms <= 100; ms += 50) beat(0, ms, 0);
        for (int ms = 5'000; ms <= 9'000; ms += 50) beat(0, ms, 1);
        record.workers.push_back({milliseconds{0}, milliseconds{9'000}, {}});
        for (int ms = 0; ms <= 9'000; ms += 50) beat(1, ms, 0);
        first = add({.job = {.number = 7}, .id = 1, .attempt = 1, .fence = 10}, 50, 5'020, 0);
        second = add({.job = {.number = 7}, .id = 1, .attempt = 2, .fence = 20}, 4'000, 4'010, 1);
        follow_up =
            add({.job = {.number = 7, .parent_fence = 20}, .id = 2, .attempt = 1, .fence = 30},
                4'020, 4'030, 1);
    }

    void beat(std::size_t worker, int ms, std::uint64_t lost) {
        record.workers[worker].pulses.push_back({milliseconds{ms}, lost});
    }
    std::size_t add(ChaosRun run, int begun, int ended, std::size_t worker) {
        run.begun = milliseconds{begun};
        run.ended = milliseconds{ended};
        run.end = ChaosRun::End::done;
        run.worker = worker;
        record.runs.push_back(run);
        return record.runs.size() - 1;
    }
    [[nodiscard]] ChaosFindings check() const {
        return check_chaos(record,
                           {.silence = milliseconds{2'000}, .discovery = milliseconds{1'000}});
    }
    /// Whether this is the only violation.
    [[nodiscard]] bool finds(std::string_view violation) const {
        const auto found = check().violations;
        CAPTURE(violation);
        for (const auto& each : found) INFO(each);
        return found.size() == 1 && found[0].find(violation) != std::string::npos;
    }

    ChaosRecord record{.pushed = {7}};
    std::size_t first = 0;
    std::size_t second = 0;
    std::size_t follow_up = 0;
};

}  // namespace

TEST_CASE("redis: killed and frozen workers run each job one at a time, with one follow-up job") {
    const auto number = seed(1);
    ROUTEMASTER_TELL_SEED(number);
    const auto report = run_chaos({.duration = milliseconds{10'000},
                                   .seed = number,
                                   .silence = milliseconds{1'500},
                                   .heartbeat = milliseconds{250},
                                   .worker_program = program(ROUTEMASTER_CHAOS_WORKER)});
    MESSAGE(report.text());
    for (const auto& violation : report.findings.violations) FAIL_CHECK(violation);
    CHECK(report.pushed > 0);
    CHECK(report.findings.done == 2 * report.pushed);
    CHECK(report.killed > 0);
    CHECK(report.frozen > 0);
    CHECK(report.scrubbed > 0);
}

TEST_CASE("redis: the checker of a chaos run finds each broken rule") {
    ChaosScene scene;
    REQUIRE(scene.check().violations.empty());
    CHECK(scene.check().overlaps == 1);
    CHECK(scene.check().refused == 1);
    auto& runs = scene.record.runs;
    SUBCASE("two runs of a job overlap, and the former worker was never silent") {
        scene.record.workers[0].pulses = scene.record.workers[1].pulses;
        scene.record.workers[0].pulses.back().lease_lost = 1;
        CHECK(scene.finds("ran on after its job was handed on"));
    }
    SUBCASE("two runs of a job overlap, and the former worker was silent for too short a time") {
        runs[scene.second].begun = milliseconds{1'900};
        CHECK(scene.finds("ran on after its job was handed on"));
    }
    SUBCASE("a resumed worker that was declared dead begins a run long afterwards") {
        runs[scene.first].begun = milliseconds{6'500};
        runs[scene.first].ended = milliseconds{6'510};
        CHECK(scene.finds("ran on after its job was handed on"));
    }
    SUBCASE("a resumed worker that was declared dead settles its job") {
        runs[scene.follow_up].job.parent_fence = 10;
        CHECK(scene.finds("settled though its lease was lost"));
    }
    SUBCASE("the pool of a resumed worker that was declared dead reports no lost lease") {
        for (auto& pulse : scene.record.workers[0].pulses) pulse.lease_lost = 0;
        CHECK(scene.finds("found 0 lost"));
    }
    SUBCASE("a job never ran") {
        scene.record.pushed.push_back(8);
        CHECK(scene.finds("job 8 never ran"));
    }
    SUBCASE("a job was never done") {
        runs[scene.first].end = ChaosRun::End::failed;
        runs[scene.second].end = ChaosRun::End::failed;
        CHECK(scene.finds("job 7 was never done"));
    }
    SUBCASE("a job ran that was never pushed") {
        scene.record.pushed.clear();
        CHECK(scene.check().violations.size() == 2);
    }
    SUBCASE("a job has no follow-up job") {
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(scene.follow_up));
        CHECK(scene.finds("has 0 follow-ups"));
    }
    SUBCASE("a job has two follow-up jobs") {
        scene.add({.job = {.number = 7, .parent_fence = 20}, .id = 3, .attempt = 1, .fence = 40},
                  4'500, 4'510, 1);
        CHECK(scene.finds("has 2 follow-ups"));
    }
    SUBCASE("a failed attempt has a follow-up job") {
        runs[scene.second].end = ChaosRun::End::failed;
        CHECK(scene.finds("it follows from a run that was not done"));
    }
    SUBCASE("an attempt is not counted") {
        runs[scene.second].attempt = 1;
        CHECK(scene.finds("attempts and fences disagree"));
    }
    SUBCASE("a lease was given out twice") {
        runs[scene.second].fence = 10;
        runs[scene.follow_up].job.parent_fence = 10;
        CHECK(!scene.check().violations.empty());
    }
}
