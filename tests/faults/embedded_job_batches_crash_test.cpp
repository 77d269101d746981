/// @file
/// The end of a batch of jobs, when the process or the machine ends in the middle.

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

CreateJobBatch batch_with_callbacks() {
    return {std::make_shared<const JobBatchSettings>(
        JobBatchSettings{.name = "import",
                         .on_success = JobBatchCallback{.queue = "after", .job = "success"},
                         .on_end = JobBatchCallback{.queue = "after", .job = "end"}})};
}

FailJob failure_for_good(FileScene& scene) {
    return {.lease = take(scene), .error = "x", .run_at = scene.now, .bury = true};
}

}  // namespace

TEST_CASE(
    "after a crash at any write, the file has the last job of a batch or the callbacks, never "
    "both") {
    enum class Way { ack, bury, cancel, expire, close };
    for (const auto way : {Way::ack, Way::bury, Way::cancel, Way::expire, Way::close}) {
        CAPTURE(static_cast<int>(way));
        Disk disk;
        bool failed = true;
        for (std::uint64_t nth = 1; failed; ++nth) {
            CAPTURE(nth);
            REQUIRE(nth < 1'000);
            FileScene scene;
            const auto batch = scene.must(batch_with_callbacks()).id;
            auto push = scene.job("last");
            push.options.batch = batch;
            if (way == Way::expire) push.options.expires_at = scene.now + Duration{1};
            const auto id = scene.must(push).id;
            if (way != Way::close) scene.must(CloseJobBatch{batch});
            bool acknowledged = false;
            const auto act = [&](auto step) {
                disk.fail_changes(nth, true);
                acknowledged = scene.perform(std::move(step)).has_value();
            };
            switch (way) {
                case Way::ack: act(AckJob{take(scene)}); break;
                case Way::bury: act(failure_for_good(scene)); break;
                case Way::cancel: act(CancelJob{"work", id}); break;
                case Way::expire:
                    scene.now += Duration{1};
                    act(AcquireJobs{"work", scene.worker, 1});
                    break;
                case Way::close:
                    scene.must(AckJob{take(scene)});
                    act(CloseJobBatch{batch});
                    break;
            }
            failed = disk.failures() > 0;
            const auto copy = scene.folder.path() / "after-power-loss.db";
            disk.copy_synced(scene.file, copy);
            scene.close();
            disk.heal();
            FileScene left;
            left.now = scene.now;
            left.open_at(copy);
            const bool succeeds = way == Way::ack || way == Way::close;
            const bool ended = left.must(FindJobBatch{batch})->ended_at.has_value();
            CHECK(left.queue("after").ready == (ended ? succeeds ? 2 : 1 : 0));
            const bool waits = left.queue("work").ready == 1;
            CHECK(waits == (!ended && way != Way::close));
            CHECK(left.must(FindJobBatch{batch})->progress.pending() == (waits ? 1 : 0));
            // An acquisition drops expired jobs on the side, and does not wait until this is on
            // disk.
            CHECK((ended || !acknowledged || way == Way::expire));
            // If the end was lost, it happens again, exactly once.
            if (ended) continue;
            switch (way) {
                case Way::close: left.must(CloseJobBatch{batch}); break;
                case Way::ack: left.must(AckJob{take(left)}); break;
                case Way::bury: left.must(failure_for_good(left)); break;
                case Way::cancel: left.must(CancelJob{"work", id}); break;
                case Way::expire:
                    left.now += Duration{1};
                    left.must(AcquireJobs{"work", left.worker, 1});
                    break;
            }
            CHECK(left.queue("after").ready == (succeeds ? 2 : 1));
        }
    }
}
