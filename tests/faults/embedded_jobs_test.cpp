/// @file
/// Jobs in a file: attempts that crash their process, errors, burials, and ids.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "file_scene.hpp"
#include "testing/conformance/text.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

using State = JobStatus::State;

constexpr TimePoint now = from_milliseconds(1'700'000'000'000);

/// A worker that dies in each attempt of the only job of `work`. Without a job, the worker exits
/// normally.
[[noreturn]] void work(const fs::path& file) noexcept {
    EmbeddedStore store{file};
    const AcquireJobs step{.queue = "work", .worker = Uid{1, 1}};
    // The job is available at once, or after the backoff that follows its second death.
    for (const Duration wait : {Duration{0}, Duration{60'000}}) {
        if (!perform(store, step, now + wait).value().leases.empty()) ::raise(SIGKILL);
    }
    ::_exit(0);
}

/// The exit status of such a process, or 128 plus the signal.
int run(const fs::path& file) {
    const pid_t child = ::fork();
    if (child == 0) work(file);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Copies the files that a crash at this moment would leave.
void copy_with_log(const fs::path& file, const fs::path& copy) {
    fs::copy_file(file, copy);
    fs::copy_file(file.string() + "-wal", copy.string() + "-wal");
}

JobStatus status(FileScene& scene, JobId id) { return scene.must(FindJob{"work", id}).value(); }

}  // namespace

TEST_CASE("a job that kills its process in each attempt is BURIED after its limit of attempts") {
    FileScene scene;
    const PushJob push{"work", "poison", scene.now, {.attempts_max = 3}};
    const auto id = scene.must(push).id;
    scene.close();
    // The first attempt is not counted, because its process died before recording the attempt.
    for (int attempt = 0; attempt <= 3; ++attempt) REQUIRE(run(scene.file) == 128 + SIGKILL);
    REQUIRE(run(scene.file) == 0);
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.buried = 1});
    const auto job = status(scene, id);
    CHECK(job.attempts == 3);
    REQUIRE(job.errors.size() == 3);
    for (std::uint32_t i = 0; i < 3; ++i) {
        CHECK(job.errors[i].attempt == i + 1);
        CHECK(job.errors[i].text == unreported_error);
    }
}

TEST_CASE("a job whose process died in the last attempt is BURIED, without leasing it again") {
    FileScene scene;
    const auto push = [&](const char* job, std::uint32_t attempts_max) {
        return scene.must(PushJob{"work", job, scene.now, {.attempts_max = attempts_max}}).id;
    };
    const auto last = push("last", 1);
    const auto more = push("more", 2);
    REQUIRE(scene.must(AcquireJobs{"work", scene.worker, 2}).leases.size() == 2);
    scene.close();
    scene.open();
    CHECK(status(scene, last).state == State::ready);
    CHECK(scene.must(ScrubWorkers{Duration{3'500}}).jobs == 0);
    CHECK(status(scene, last).state == State::buried);
    REQUIRE(status(scene, last).errors.size() == 1);
    CHECK(status(scene, last).errors[0].text == unreported_error);
    CHECK(status(scene, more).state == State::ready);
    scene.close();
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.ready = 1, .buried = 1});
}

TEST_CASE("large jobs whose process died in the last attempt are BURIED in chunks") {
    FileScene scene;
    for (const char letter : {'a', 'b', 'c'}) {
        const std::string large(job_slice_bytes_max / 5 * 2, letter);
        scene.must(PushJob{"work", large, scene.now, {.attempts_max = 1}});
    }
    for (int i = 0; i < 2; ++i) scene.must(AcquireJobs{"work", scene.worker, 3});
    REQUIRE(scene.queue("work") == QueueStatus{.pending = 3});
    scene.close();
    scene.open();
    SUBCASE("a search for dead workers buries the jobs") {
        const ScrubWorkers scrub{Duration{3'500}};
        const auto first = scene.must(scrub);
        CHECK(first.more);
        CHECK(first.buried.size() == 2);
        CHECK(scene.queue("work") == QueueStatus{.ready = 1, .buried = 2});
        const auto last = scene.must(scrub);
        CHECK_FALSE(last.more);
        CHECK(last.buried.size() == 1);
    }
    SUBCASE("an acquisition buries the jobs") {
        const AcquireJobs acquire{"work", scene.worker, 3};
        CHECK(scene.must(acquire).next_due == scene.now);
        CHECK(scene.queue("work") == QueueStatus{.ready = 1, .buried = 2});
        CHECK(scene.must(acquire).next_due == never);
    }
    CHECK(scene.queue("work") == QueueStatus{.buried = 3});
}

TEST_CASE("a file keeps the options, attempts, errors and burial of a job") {
    FileOptions options;
    SUBCASE("the rows of the changes are still in the file") {}
    SUBCASE("the rows were moved by compaction") { options.slack_max = 4'096; }
    SUBCASE("the payload is not in memory") { options = {.slack_max = 4'096, .memory_max = 1}; }
    FileScene scene{options};
    std::vector<JobId> ids;
    for (const char* name : {"a", "b", "c", "d"}) {
        const JobOptions own{.attempts_max = 2,
                             .timeout = Duration{5},
                             .expires_at = scene.now + Duration{1'000'000},
                             .metadata = {{"of", name}}};
        ids.push_back(scene.must(PushJob{"work", name, scene.now, own}).id);
    }
    // "c" is BURIED first, "a" waits after a failure, "b" was begun once, and "d" never.
    const auto leases = scene.must(AcquireJobs{"work", scene.worker, 3}).leases;
    const auto fail = [&](const Lease& lease, bool bury) {
        scene.must(FailJob{.lease = lease,
                           .error = "broken " + lease.job,
                           .run_at = scene.now + Duration{50},
                           .bury = bury});
    };
    fail(leases.at(2), true);
    scene.now += Duration{1};
    fail(leases.at(0), false);
    scene.must(RetireWorker{scene.worker});
    scene.must(NackJob{take(scene), scene.now});
    for (int i = 0; i < 2'000; ++i) {
        scene.must(PushJob{"other", "filler " + std::to_string(i), scene.now});
        if (options.memory_max > 0) continue;
        scene.must(AckJob{scene.must(AcquireJobs{"other", scene.worker, 1}).leases.at(0)});
    }
    std::vector<JobStatus> before;
    for (const auto id : ids) before.push_back(status(scene, id));
    scene.close();
    scene.open(options);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(testing::Text::of(status(scene, ids[i])) == testing::Text::of(before[i]));
    }
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 1, .ready = 2, .buried = 1});
    CHECK(scene.must(KickJobs{.queue = "work"}).value == 1);
    CHECK(status(scene, ids[2]).state == State::ready);
    CHECK(status(scene, ids[2]).errors.size() == 1);
}

TEST_CASE("a job that was cancelled while it ran does not run after a restart") {
    const auto [options, rows_behind] = changed_or_moved_rows();
    FileScene scene{options};
    PushJob push = scene.job("a");
    SUBCASE("the job has no key and no metadata") {}
    SUBCASE("the job has a key and metadata") {
        push.options.key.text = "k";
        push.options.metadata = {{"trace", "00-4bf9-01"}};
    }
    const auto id = scene.must(push).id;
    take(scene);
    REQUIRE(scene.must(CancelJob{"work", id}) == Cancellation::requested);
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(status(scene, id).cancelled);
    CHECK(status(scene, id).options == push.options);
    CHECK(scene.must(AcquireJobs{"work", scene.worker, 1}).leases.empty());
    CHECK(scene.queue("work") == QueueStatus{});
    CHECK(scene.must(push) == PushOutcome::pushed);
}

TEST_CASE("a file keeps the order of BURIED jobs") {
    FileScene scene;
    for (const char* name : {"a", "b", "c"}) scene.must(scene.job(name));
    const auto leases = scene.must(AcquireJobs{"work", scene.worker, 3}).leases;
    for (const std::size_t at : {1U, 2U, 0U}) {
        scene.now += Duration{1};
        scene.must(FailJob{.lease = leases[at], .error = "", .run_at = {}, .bury = true});
    }
    scene.close();
    scene.open();
    CHECK(scene.must(KickJobs{.queue = "work", .limit = 1}).value == 1);
    CHECK(take(scene).job == "b");
}

TEST_CASE("no id is assigned twice, even after the job with the id is gone") {
    FileOptions options;
    int rows_behind = 1;
    SUBCASE("the rows of the job are still in the file") {}
    SUBCASE("the rows of the job were removed by compaction") {
        options.slack_max = 1'024;
        rows_behind = 3'000;
    }
    FileScene scene{options};
    JobId last = 0;
    for (int i = 0; i < 20; ++i) {
        last = scene.must(scene.job("a")).id;
        scene.must(AckJob{take(scene)});
    }
    for (int i = 0; i < rows_behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(options);
    CHECK(scene.must(scene.job("a")).id == last + 1);
}

TEST_CASE("fences (lease numbers) grow with each acquisition, over restarts and crashes") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    scene.must(PushJob{"work", "job", scene.now});
    auto file = scene.file;
    std::uint64_t last = 0;
    const auto acquire = [&] {
        auto leases = scene.must(AcquireJobs{"work", scene.worker}).leases;
        if (leases.empty()) {
            // The job waits because its process died twice.
            scene.now += Duration{60'000};
            leases = scene.must(AcquireJobs{"work", scene.worker}).leases;
        }
        REQUIRE(leases.size() == 1);
        CHECK(leases[0].fence > last);
        last = leases[0].fence;
        return leases[0];
    };
    for (int life = 0; life < 3; ++life) {
        for (int i = 0; i < rows.behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
        const auto lease = acquire();
        const auto crashed = scene.folder.path() / ("crashed." + std::to_string(life));
        copy_with_log(file, crashed);
        scene.must(ReleaseJob{lease, scene.now});
        scene.must(ReleaseJob{acquire(), scene.now});
        scene.close();
        if (life > 0) file = crashed;
        scene.open_at(file, rows.options);
    }
    acquire();
}

TEST_CASE("an attempt is written to disk before the worker gets the job, when the count matters") {
    FileScene scene;
    auto push = scene.job("a");
    std::uint32_t counted = 1;
    SUBCASE(
        "the attempt is written if the job has only a single "
        "attempt") {
        push.options.attempts_max = 1;
    }
    SUBCASE(
        "the attempt is written if the job has an expiry "
        "time") {
        push.options.expires_at = scene.now + Duration{1'000};
    }
    SUBCASE("the attempt is written if its beginning frees a key") {
        push.options.key = {.text = "k", .scope = KeyScope::until_started};
    }
    bool taken = false;
    bool reopened = false;
    SUBCASE(
        "the attempt is written if another process may have begun an "
        "attempt") {
        taken = reopened = true;
    }
    SUBCASE("the attempt is written if it is not the first") {
        taken = true;
        counted = 2;
    }
    SUBCASE(
        "the first of many attempts, in the process that pushed the job, is not "
        "written") {
        counted = 0;
    }
    SUBCASE("the first of many attempts is not written if no process can have begun an attempt") {
        reopened = true;
        counted = 0;
    }
    const auto id = scene.must(push).id;
    if (taken) {
        const auto lease = take(scene);
        if (!reopened) scene.must(NackJob{lease, scene.now});
    }
    if (reopened) {
        scene.close();
        scene.open();
    }
    take(scene);
    const auto copy = scene.folder.path() / "copy";
    copy_with_log(scene.file, copy);
    scene.close();
    scene.open_at(copy);
    CHECK(status(scene, id).attempts == counted);
    CHECK(status(scene, id).state == State::ready);
}

TEST_CASE("an attempt stays on disk when compaction rewrites the rows of the job") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    for (const auto& [job, group] : {std::pair{"a", ""}, std::pair{"b", "g"}}) {
        scene.must(PushJob{"work", job, scene.now, {.group = group}});
        take(scene);
    }
    scene.close();
    scene.open(rows.options);
    for (int job = 0; job < 2; ++job) take(scene);
    for (int i = 0; i < rows.behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    const auto copy = scene.folder.path() / "copy";
    copy_with_log(scene.file, copy);
    scene.close();
    scene.open_at(copy, rows.options);
    for (const JobId id : {1U, 2U}) CHECK(status(scene, id).attempts == 1);
}

TEST_CASE("a job with an id far above the last begun job counts as not begun after a restart") {
    const auto rows = changed_or_moved_rows();
    FileScene scene{rows.options};
    scene.must(scene.job("first"));
    take(scene);
    constexpr JobId far = 70'000;
    std::vector<Step> pushes;
    for (JobId id = 2; id <= far; ++id) pushes.emplace_back(scene.job(std::to_string(id)));
    std::get<PushJob>(pushes.back()).run_at -= Duration{1};
    for (const auto& outcome : perform_all(*scene.store, pushes, scene.now)) REQUIRE(outcome);
    for (int i = 0; i < rows.behind; ++i) scene.must(PutToken{"a", std::to_string(i)});
    scene.close();
    scene.open(rows.options);
    for (const JobId id : {far, JobId{1}, JobId{2}}) REQUIRE(take(scene).id == id);
    scene.close();
    scene.open(rows.options);
    CHECK(status(scene, far).attempts == 0);
    for (const JobId id : {1U, 2U}) CHECK(status(scene, id).attempts == 1);
}
