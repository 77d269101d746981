/// @file
/// Jobs that kill their process, and jobs that run at the same time.

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/job_queue.hpp"
#include "routemaster/worker_pool.hpp"
#include "testing/conformance/text.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// A process with two pools. It exits normally when all work is done.
[[noreturn]] void work(const fs::path& file) noexcept {
    EmbeddedStore store{file};
    const auto make_pool = [&](WorkerPool& pool) {
        pool.handle("poison", [](JobContext&) {
            ::usleep(50'000);
            ::raise(SIGKILL);
        });
        pool.handle("long", [](JobContext&) { ::usleep(200'000); });
        pool.start();
    };
    WorkerPool pool{store, {.queues = {"work"}, .threads = 4}};
    WorkerPool other{store, {.queues = {"other"}}};
    make_pool(pool);
    make_pool(other);
    const auto is_over = [&](const char* queue) {
        const auto status = JobQueue{store, queue}.status().value();
        return status.scheduled + status.ready + status.pending == 0;
    };
    while (!is_over("work") || !is_over("other")) ::usleep(5'000);
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

}  // namespace

TEST_CASE("a job that kills its process in each attempt never makes the job beside it BURIED") {
    FileScene scene;
    const auto push = [&](const char* queue, const char* name) {
        const Job job{name, {scene.uids.next().text()}};
        return JobQueue{*scene.store, queue}.push(job, {.attempts_max = 3}).value().id;
    };
    const auto poison = push("work", "poison");
    for (int i = 0; i < 3; ++i) push("work", "long");
    push("other", "long");
    scene.close();
    int lives = 1;
    while (run(scene.file) == 128 + SIGKILL) REQUIRE(++lives < 8);
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.buried = 1});
    CHECK(scene.queue("other") == QueueStatus{});
    const auto buried = scene.must(FindJob{"work", poison}).value();
    CHECK(buried.attempts == 3);
    REQUIRE(buried.errors.size() == 3);
    for (const auto& error : buried.errors) CHECK(error.text == unreported_error);
}

TEST_CASE("an interrupted attempt is known after compaction rewrote the rows of the job") {
    const FileOptions options{.slack_max = 1'024};
    FileScene scene{options};
    const auto id =
        scene.must(PushJob{"work", "a", scene.now, {.expires_at = scene.now + Duration{1'000'000}}})
            .id;
    const auto write_again = [&] {
        for (int i = 0; i < 3'000; ++i) scene.must(PutToken{"a", std::to_string(i)});
    };
    const auto die = [&] {
        scene.close();
        scene.open(options);
    };
    REQUIRE(scene.must(AcquireJobs{"work", scene.worker}).leases.size() == 1);
    SUBCASE("the rows are rewritten during the attempt") {
        write_again();
        die();
    }
    SUBCASE("the rows are rewritten after the attempt, before another acquisition") {
        die();
        write_again();
        die();
    }
    const auto lease = scene.must(AcquireJobs{"work", scene.worker}).leases.at(0);
    CHECK(lease.attempt == 2);
    const auto job = scene.must(FindJob{"work", id}).value();
    CHECK(job.errors == std::vector<JobError>{{1, scene.now, unreported_error}});
}
