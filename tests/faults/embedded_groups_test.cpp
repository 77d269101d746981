/// @file
/// Ordering groups of jobs in a file.

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

struct GroupScene : FileScene {
    using FileScene::FileScene;

    JobId push(const std::string& job, const std::string& group, Duration delay = {},
               std::uint32_t concurrency = 1) {
        PushJob step{"work", job, now + delay};
        step.options.group = group;
        step.options.concurrency = concurrency;
        return must(std::move(step)).id;
    }
    std::string acquire() {
        std::string all;
        for (const auto& lease : must(AcquireJobs{"work", worker, 100}).leases) all += lease.job;
        return all;
    }
    /// Does one job after the other. Returns their names.
    std::string run_singly() {
        std::string all;
        for (;;) {
            const auto leases = must(AcquireJobs{"work", worker, 1}).leases;
            if (leases.empty()) return all;
            all += leases.front().job;
            must(AckJob{leases.front()});
        }
    }
    void reopen(const FileRows& rows) {
        for (int i = 0; i < rows.behind; ++i) must(PutToken{"a", std::to_string(i)});
        close();
        open(rows.options);
    }
};

}  // namespace

TEST_CASE("a file keeps the places of jobs in their groups") {
    const auto rows = changed_or_moved_rows();
    GroupScene scene{rows.options};
    const auto put_off = scene.push("a", "g");
    scene.push("b", "g", Duration{10});
    scene.push("c", "g");
    scene.push("d", "g", Duration{60'000});
    scene.must(NackJob{take(scene), scene.now + Duration{30'000}});
    scene.now += Duration{10};
    CHECK(scene.acquire().empty());
    scene.push("e", "g");
    scene.reopen(rows);
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 2, .ready = 3});
    CHECK(scene.acquire().empty());
    scene.now += Duration{30'000};
    CHECK(scene.acquire() == "a");
    scene.reopen(rows);
    CHECK(scene.must(FindJob{"work", put_off})->options.group == "g");
    CHECK(scene.run_singly() == "acbe");
    scene.now += Duration{60'000};
    CHECK(scene.run_singly() == "d");
}

TEST_CASE(
    "a file keeps the concurrency of a group, and does not restore jobs that left the group") {
    const auto rows = changed_or_moved_rows();
    GroupScene scene{rows.options};
    const auto buried = scene.push("a", "g", {}, 2);
    for (const char* job : {"b", "c", "d"}) scene.push(job, "g", {}, 2);
    scene.must(FailJob{.lease = take(scene), .error = "broken", .run_at = scene.now, .bury = true});
    scene.reopen(rows);
    CHECK(scene.acquire() == "bc");
    CHECK(scene.must(KickJobs{.queue = "work", .id = buried}).value == 1);
    scene.reopen(rows);
    CHECK(scene.acquire() == "bc");
    scene.must(RetireWorker{scene.worker});
    CHECK(scene.run_singly() == "bcda");
    CHECK(scene.queue("work") == QueueStatus{});
}

TEST_CASE("a file keeps each option of a job in a group") {
    const auto rows = changed_or_moved_rows();
    GroupScene scene{rows.options};
    const auto later = scene.now + Duration{60'000};
    const JobOptions options[] = {
        {.attempts_max = 3},
        {.priority = 1},
        {.timeout = Duration{1'000}},
        {.expires_at = later},
        {.key = {.text = "k", .scope = KeyScope::for_time, .until = later}},
        {.metadata = {{"tenant", "a"}}},
        {.concurrency = 2},
    };
    std::vector<JobId> ids;
    for (const auto& each : options) {
        PushJob step{"work", std::to_string(ids.size()), scene.now};
        step.options = each;
        step.options.group = "g";
        ids.push_back(scene.must(std::move(step)).id);
    }
    scene.reopen(rows);
    for (std::size_t n = 0; n < ids.size(); ++n) {
        auto expected = options[n];
        expected.group = "g";
        CHECK(scene.must(FindJob{"work", ids[n]})->options == expected);
    }
}

TEST_CASE("payloads of jobs in groups are read from the file when memory is limited") {
    FileRows rows{.options = {.memory_max = 1}, .behind = 1};
    GroupScene scene{rows.options};
    for (const char* job : {"a", "b", "c"}) scene.push(job, "g");
    scene.push("d", "h", Duration{10});
    scene.reopen(rows);
    scene.push("e", "g");
    scene.must(DeleteJob{"work", 1});
    scene.now += Duration{10};
    CHECK(scene.run_singly() == "bdce");
}

TEST_CASE("the job behind a deleted job is not handed out before the deletion is on disk") {
    // A crash could restore the first job, which must then come first.
    GroupScene scene;
    const auto first = scene.push("a", "g");
    scene.push("b", "g");
    std::vector<Step> steps;
    steps.emplace_back(DeleteJob{"work", first});
    bool deleted = false;
    scene.store->submit(steps, scene.now, [&](std::span<Outcome>) { deleted = true; });
    CHECK(scene.acquire() == "b");
    CHECK(deleted);
}

TEST_CASE("the job behind a BURIED or cancelled job is not handed out before that is on disk") {
    // A crash could restore the first job, which must then come first.
    GroupScene scene;
    scene.push("a", "g");
    scene.push("b", "g");
    const auto lease = take(scene);
    std::vector<Step> steps;
    SUBCASE("the worker buries the job") {
        steps.emplace_back(
            FailJob{.lease = lease, .error = "broken", .run_at = scene.now, .bury = true});
    }
    SUBCASE("the job is cancelled while it is leased") {
        scene.must(CancelJob{"work", lease.id});
        steps.emplace_back(NackJob{lease, scene.now});
    }
    bool ended = false;
    scene.store->submit(steps, scene.now, [&](std::span<Outcome>) { ended = true; });
    CHECK(scene.acquire() == "b");
    CHECK(ended);
}
