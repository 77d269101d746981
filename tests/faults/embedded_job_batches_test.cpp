/// @file
/// Batches of jobs in a file.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

CreateJobBatch creation(const char* name) {
    JobBatchSettings settings{.name = name};
    settings.on_success = JobBatchCallback{.queue = "after", .job = "success"};
    settings.on_success->metadata = {{"tenant", "shop"}};
    settings.on_end = JobBatchCallback{
        .queue = "after", .job = "end", .attempts_max = 3, .priority = 2, .timeout = Duration{9}};
    return {std::make_shared<const JobBatchSettings>(std::move(settings))};
}

PushJob push_into(const FileScene& scene, JobBatchId batch, const char* name) {
    auto push = scene.job(name);
    push.options.batch = batch;
    return push;
}

std::vector<JobBatch> all_batches(FileScene& scene) {
    auto all = scene.must(ListJobBatches{}).batches;
    const auto ended = scene.must(ListJobBatches{.ended = true}).batches;
    all.insert(all.end(), ended.begin(), ended.end());
    return all;
}

FailJob burial(FileScene& scene) {
    return {.lease = take(scene), .error = "x", .run_at = scene.now, .bury = true};
}

}  // namespace

TEST_CASE("a file keeps batches of jobs, with their progress and their jobs") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    const auto open_again = [&] {
        for (int i = 0; i < rows.behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
        const auto before = all_batches(scene);
        scene.close();
        scene.open(rows.options);
        CHECK(all_batches(scene) == before);
    };
    const auto batch = scene.must(creation("import")).id;
    const auto removed = scene.must(creation("removed")).id;
    const auto other = scene.must(creation("other")).id;
    scene.must(push_into(scene, removed, "of one that is removed"));
    for (const char* job : {"a", "b", "c"}) scene.must(push_into(scene, batch, job));
    scene.must(RemoveJobBatch{removed});
    scene.must(CloseJobBatch{other});
    open_again();
    CHECK(scene.must(creation("import")) == JobBatchCreated{batch, false});
    scene.must(AckJob{take(scene)});
    scene.must(AckJob{take(scene)});
    scene.must(CloseJobBatch{batch});
    const auto step = burial(scene);
    CHECK(step.lease.options->batch == batch);
    scene.must(step);
    open_again();
    const auto later = scene.must(FindJobBatch{batch}).value();
    CHECK(later.progress == JobBatchProgress{.total = 3, .succeeded = 1, .buried = 1});
    CHECK(!later.ended_at);
    // A restart makes no difference to the lease that ends the batch.
    scene.must(AckJob{take(scene)});
    CHECK(scene.must(FindJobBatch{batch})->ended_at);
    open_again();
    CHECK(scene.queue("after") == QueueStatus{.ready = 3});
    scene.must(KickJobs{.queue = "work"});
    scene.must(AckJob{take(scene)});
    open_again();
    CHECK(scene.queue("after") == QueueStatus{.ready = 4});
    CHECK(scene.must(FindJobBatch{batch})->succeeded_at);
    CHECK(scene.must(FindJob{"after", scene.must(FindJobBatch{batch})->end_job}));
    CHECK(scene.must(creation("new")).id == other + 1);
}

TEST_CASE("the ids of removed batches are not assigned again after a restart") {
    FileScene scene;
    const auto first = scene.must(creation("first")).id;
    scene.must(RemoveJobBatch{first});
    scene.close();
    scene.open();
    CHECK(scene.must(creation("second")).id == first + 1);
}
