/// @file
/// Dependencies of jobs in a file.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

PushJob push_after(const FileScene& scene, std::string name, std::vector<JobId> others) {
    auto push = scene.job(std::move(name));
    push.after = std::move(others);
    return push;
}

JobStatus status_of(FileScene& scene, JobId id) { return scene.must(FindJob{"work", id}).value(); }

/// Opens the file again. Adds rows before, if the test wants compaction to move the earlier rows.
void open_again(FileScene& scene, const FileRows& rows) {
    for (int i = 0; i < rows.behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(rows.options);
}

}  // namespace

TEST_CASE("a file keeps the dependencies of jobs, and the due times of waiting jobs") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    const auto a = scene.must(scene.job("a")).id;
    const auto b = scene.must(scene.job("b")).id;
    auto late = push_after(scene, "late", {a});
    late.run_at += Duration{60'000};
    const auto last = scene.must(push_after(scene, "last", {a, b})).id;
    const auto later = scene.must(late).id;
    open_again(scene, rows);
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 2, .ready = 2});
    CHECK(status_of(scene, last).after == std::vector<JobId>{a, b});
    CHECK(status_of(scene, later).run_at == late.run_at);
    scene.must(AckJob{take(scene)});
    open_again(scene, rows);
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 2, .ready = 1});
    CHECK(status_of(scene, last).after == std::vector<JobId>{b});
    CHECK(status_of(scene, later).after.empty());
    CHECK(status_of(scene, later).run_at == late.run_at);
    scene.now += Duration{1'000};
    scene.must(AckJob{take(scene)});
    open_again(scene, rows);
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(take(scene).job == "last");
}

TEST_CASE("a file keeps the BURIED state of dependents, and the reason of the burial") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    const auto a = scene.must(scene.job("a")).id;
    const auto b = scene.must(push_after(scene, "b", {a})).id;
    const auto c = scene.must(push_after(scene, "c", {b})).id;
    scene.must(DeleteJob{"work", a});
    open_again(scene, rows);
    const auto status = status_of(scene, b);
    CHECK(status.state == JobStatus::State::buried);
    CHECK(status.buried_at == scene.now);
    CHECK_FALSE(status.failing_since);
    REQUIRE(status.errors.size() == 1);
    const auto why = "job " + std::to_string(a) + ", which it waited for, was deleted";
    CHECK(status.errors[0] == JobError{0, scene.now, why});
    CHECK(status_of(scene, c).after == std::vector<JobId>{b});
    scene.must(KickJobs{.queue = "work", .id = b});
    open_again(scene, rows);
    scene.must(AckJob{take(scene)});
    CHECK(take(scene).job == "c");
}

TEST_CASE(
    "a job whose payload was evicted from memory waits, and is BURIED, without loading the "
    "payload") {
    FileScene scene{{.memory_max = 1}};
    const std::string large(100'000, 'x');
    const auto a = scene.must(scene.job("a")).id;
    const auto b = scene.must(push_after(scene, large + "b", {a})).id;
    const auto c = scene.must(push_after(scene, large + "c", {a})).id;
    for (int i = 0; i < 10; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.must(DeleteJob{"work", c});
    scene.must(DeleteJob{"work", a});
    scene.close();
    scene.open({.memory_max = 1});
    CHECK(scene.queue("work") == QueueStatus{.buried = 1});
    scene.must(KickJobs{.queue = "work", .id = b});
    CHECK(take(scene).job == large + "b");
}
