/// @file
/// Checkpoints of SQLite's log in parallel to commits.

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace fs = std::filesystem;

namespace {

constexpr std::size_t job_bytes = 100'000;

/// The numbers of jobs that fill the log until a checkpoint begins, and until its bound.
constexpr int jobs_until_begun = 40;
constexpr int jobs_until_full = 400;

constexpr std::uint64_t log_bytes_max = 52U << 20U;

void push(FileScene& scene, int number) {
    auto job = std::to_string(number);
    job.resize(job_bytes, '.');
    scene.must(PushJob{.queue = "work", .job = std::move(job), .run_at = scene.now});
}

std::uint64_t log_bytes(const FileScene& scene) {
    return fs::file_size(scene.file.string() + "-wal");
}

void check_jobs_after_reopening(FileScene& scene, int jobs) {
    scene.close();
    scene.open();
    CHECK(scene.must(CountJobs{"work"}).ready == static_cast<std::uint64_t>(jobs));
}

int open_descriptors() {
    const fs::directory_iterator all{"/proc/self/fd"};
    return static_cast<int>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("a checkpoint of SQLite's log does not stop commits") {
    Disk disk;
    FileScene scene;
    int pushed = 0;
    push(scene, pushed++);  // The first commit marks the database as having a log.
    SuspendedSyncs suspended{disk, SuspendedSyncs::Of::databases};
    while (pushed < jobs_until_begun) push(scene, pushed++);
    suspended.wait();
    while (pushed < 2 * jobs_until_begun) push(scene, pushed++);
    suspended.release();
    check_jobs_after_reopening(scene, pushed);
}

TEST_CASE("without checkpoints, SQLite's log grows to its size limit, and then commits wait") {
    Disk disk;
    FileScene scene;
    std::atomic<int> pushed = 0;
    push(scene, pushed++);  // The first commit marks the database as having a log.
    SuspendedSyncs suspended{disk, SuspendedSyncs::Of::databases};
    constexpr int jobs = 2 * jobs_until_full;
    const std::jthread pushing{[&] {
        while (pushed < jobs) push(scene, pushed++);
    }};
    for (int before = -1; before != pushed;) {
        before = pushed;
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
    }
    CHECK(pushed > jobs_until_begun);
    CHECK(pushed < jobs_until_full);
    CHECK(log_bytes(scene) < log_bytes_max);
    suspended.release();
    while (pushed < jobs) std::this_thread::yield();
    CHECK(log_bytes(scene) < log_bytes_max);
}

TEST_CASE("SQLite's log restarts many times without more file descriptors") {
    FileScene scene;
    int pushed = 0;
    while (pushed < jobs_until_full) push(scene, pushed++);
    const auto descriptors = open_descriptors();
    while (pushed < 4 * jobs_until_full) push(scene, pushed++);
    CHECK(log_bytes(scene) < log_bytes_max);
    CHECK(open_descriptors() <= descriptors);
    check_jobs_after_reopening(scene, pushed);
}

TEST_CASE("pages lost in a failed sync of the database file are still in SQLite's log") {
    // A sync of the checkpoint, or of a commit that completes the checkpoint.
    for (std::uint64_t nth = 1; nth <= 4; ++nth) {
        CAPTURE(nth);
        Disk disk;
        FileScene scene;
        disk.fail_database_sync(nth);
        int pushed = 0;
        while (pushed < 2 * jobs_until_full) push(scene, pushed++);
        CHECK(disk.failures() == 1);
        CHECK(log_bytes(scene) < log_bytes_max);
        const auto copy = scene.folder.path() / "left";
        disk.copy_synced(scene.file, copy);
        FileScene left;
        left.open_at(copy);
        CHECK(left.must(CountJobs{"work"}).ready == static_cast<std::uint64_t>(pushed));
    }
}

TEST_CASE("pages lost in a failed sync of the database file are recovered after a restart") {
    Disk disk;
    FileScene scene;
    disk.fail_database_sync(1);
    int pushed = 0;
    while (disk.failures() == 0) push(scene, pushed++);
    scene.close();
    const auto copy = scene.folder.path() / "left";
    disk.copy_synced(scene.file, copy);
    FileScene left;
    left.open_at(copy);
    CHECK(left.must(CountJobs{"work"}).ready == static_cast<std::uint64_t>(pushed));
}
