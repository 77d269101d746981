/// @file
/// Unique keys of jobs in a file.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "file_scene.hpp"
#include "testing/conformance/text.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

PushJob keyed(const FileScene& scene, const std::string& job, const std::string& key,
              KeyScope scope = KeyScope::until_done, Duration time = {}) {
    PushJob step{"work", job, scene.now};
    step.options.key = {.text = key, .scope = scope};
    if (scope == KeyScope::for_time) step.options.key.until = scene.now + time;
    return step;
}

}  // namespace

TEST_CASE("a file keeps the job that holds each key") {
    auto [options, rows_behind] = changed_or_moved_rows();
    SUBCASE("the payloads are not in memory") {
        options = {.slack_max = 1'024, .memory_max = 1};
        rows_behind = 3'000;
    }
    constexpr Duration time{1'000'000};
    FileScene scene{options};
    // In this order: done, begun and released, begun twice, waiting, and replaced.
    scene.must(keyed(scene, "a", "throttled", KeyScope::for_time, time));
    scene.must(AckJob{take(scene)});
    const auto begun = scene.must(keyed(scene, "b", "begun", KeyScope::until_started)).id;
    scene.must(ReleaseJob{take(scene), scene.now});
    const auto twice = scene.must(keyed(scene, "c", "twice", KeyScope::until_started)).id;
    const auto leases = scene.must(AcquireJobs{"work", scene.worker, 2}).leases;
    REQUIRE(leases.size() == 2);
    const auto second = scene.must(keyed(scene, "d", "twice", KeyScope::until_started)).id;
    const auto waiting = scene.must(keyed(scene, "e", "waiting", KeyScope::for_time, time)).id;
    auto other = keyed(scene, "replaced by something longer", "waiting");
    other.run_at = scene.now + Duration{5};
    other.on_duplicate = OnDuplicate::replace;
    REQUIRE(scene.must(other) == Pushed{PushOutcome::replaced, waiting});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto report = [&] {
        std::vector<std::string> all;
        for (const auto id : {begun, twice, second, waiting}) {
            auto job = scene.must(FindJob{"work", id}).value();
            // A restart ends all leases.
            job.worker.reset();
            if (job.state == JobStatus::State::pending) job.state = JobStatus::State::ready;
            all.push_back(testing::Text::of(job));
        }
        return all;
    };
    const auto before = report();
    scene.close();
    scene.open(options);
    CHECK(report() == before);
    CHECK(scene.must(keyed(scene, "x", "throttled")) == Pushed{PushOutcome::duplicate, 0});
    CHECK(scene.must(keyed(scene, "x", "begun")) == PushOutcome::pushed);
    CHECK(scene.must(keyed(scene, "x", "twice")) == Pushed{PushOutcome::duplicate, second});
    CHECK(scene.must(keyed(scene, "x", "waiting")) == Pushed{PushOutcome::duplicate, waiting});
    scene.now += time;
    CHECK(scene.must(keyed(scene, "x", "throttled")) == PushOutcome::pushed);
    CHECK(scene.must(DeleteJob{"work", waiting}) == Deletion::deleted);
    CHECK(scene.must(keyed(scene, "x", "waiting")) == PushOutcome::pushed);
}

TEST_CASE("after a restart, a job whose key another job took over does not get the key back") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    scene.must(keyed(scene, "slow", "k", KeyScope::for_time, Duration{10}));
    scene.now += Duration{10};
    const auto next = scene.must(keyed(scene, "next", "k", KeyScope::for_time, Duration{10'000}));
    REQUIRE(next == PushOutcome::pushed);
    // The nack writes the older job again, after the newer one.
    const auto lease = take(scene);
    REQUIRE(lease.job == "slow");
    scene.must(NackJob{lease, scene.now});
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(scene.must(keyed(scene, "x", "k")) == Pushed{PushOutcome::duplicate, next.id});
}
