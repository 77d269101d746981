/// @file
/// The files that the embedded store opens, and the errors for all further files.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "routemaster/open_store.hpp"
#include "support/process.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// Executes SQL on a database that is not in use.
void run_sql(const fs::path& file, const char* sql) {
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
}

constexpr const char* file_to_open = "ROUTEMASTER_TEST_FILE";

/// Opens a file in a second process. Returns 0 on success, 1 when the file was reported to be in
/// use, and 2 otherwise.
int open_elsewhere(const fs::path& file) {
    return Process{{"/proc/self/exe", "--no-skip", "--test-case=opens a file for another process"},
                   {{file_to_open, file.string()}}}
        .wait();
}

/// Checks that a file is refused with this code and a text that names the file, and that the file
/// does not change.
void check_refused(const fs::path& file, Errc code, const std::string& part) {
    const bool existed = fs::is_regular_file(file);
    const auto before = existed ? bytes_of(file) : std::string{};
    const auto refusal = refusal_of(file);
    REQUIRE(refusal);
    CAPTURE(refusal->message());
    CHECK(refusal->code() == code);
    CHECK(refusal->context().starts_with(file.string() + ": "));
    CHECK(refusal->context().find(part) != std::string::npos);
    CHECK(fs::is_regular_file(file) == existed);
    if (existed) CHECK(bytes_of(file) == before);
    CHECK(!fs::exists(file.string() + "-wal"));
    CHECK(!fs::exists(file.string() + "-journal"));
}

}  // namespace

TEST_CASE("a file that does not exist is created, and can be opened again") {
    FileScene scene;
    scene.subscribe("billing");
    scene.publish("1");
    scene.close();
    CHECK(fs::exists(scene.file));
    scene.open();
    CHECK(joined(scene.drain()) == "1");
}

TEST_CASE("an empty file counts as a new file") {
    const TemporaryFolder folder;
    write_file(folder.path() / "bus.db", "");
    CHECK(!refusal_of(folder.path() / "bus.db"));
}

TEST_CASE("a closed store leaves only its database file") {
    FileScene scene;
    scene.publish("1");
    scene.close();
    CHECK(std::distance(fs::directory_iterator{scene.folder.path()}, {}) == 1);
}

TEST_CASE("opens a file for another process" * doctest::skip()) {
    const fs::path file{std::getenv(file_to_open)};
    const auto refusal = refusal_of(file);
    if (!refusal) std::_Exit(0);
    const auto expected = file.string() + ": in use by another process";
    std::_Exit(refusal->code() == Errc::unavailable && refusal->context() == expected ? 1 : 2);
}

TEST_CASE("a file that another process has open is refused, and the error names the file") {
    FileScene scene;
    CHECK(open_elsewhere(scene.file) == 1);
    scene.publish("1");
    CHECK(open_elsewhere(scene.file) == 1);
    scene.close();
    CHECK(open_elsewhere(scene.file) == 0);
}

TEST_CASE(
    "a file that this process has open is refused, and stays locked against other processes") {
    FileScene scene;
    scene.publish("1");
    const auto refusal = refusal_of(scene.file);
    REQUIRE(refusal);
    CHECK(refusal->code() == Errc::unavailable);
    CHECK(refusal->context() == scene.file.string() + ": in use by this process already");
    CHECK(open_elsewhere(scene.file) == 1);
    scene.publish("2");
    CHECK(open_elsewhere(scene.file) == 1);
}

TEST_CASE("processes whose access was refused do not disturb the process with the open file") {
    FileScene scene;
    scene.subscribe("billing");
    for (int i = 1; i <= 20; ++i) {
        scene.publish(std::to_string(i));
        CHECK(refusal_of(scene.file).has_value());
        if (i % 5 == 0) CHECK(open_elsewhere(scene.file) == 1);
    }
    scene.close();
    scene.open();
    CHECK(joined(scene.drain()) == joined(numbers(1, 20)));
}

TEST_CASE("a file that is not a database is refused") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "notes.txt";
    for (const std::string& content :
         {std::string{"x"}, std::string{"Dear diary,\n"}, std::string(100'000, 'z'),
          std::string(4'096, '\0'), std::string{"SQLite format 3"}}) {
        write_file(file, content);
        check_refused(file, Errc::invalid, "is not a routemaster file");
    }
}

TEST_CASE("a database of another program is refused") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "shop.db";
    run_sql(file, "CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (42)");
    check_refused(file, Errc::invalid, "not of routemaster");

    SUBCASE("the database has its own application id") {
        run_sql(file, "PRAGMA application_id=1234");
        check_refused(file, Errc::invalid, "not of routemaster");
    }
    SUBCASE("the database is in WAL mode") {
        run_sql(file, "PRAGMA journal_mode=WAL; INSERT INTO orders VALUES (43)");
        check_refused(file, Errc::invalid, "not of routemaster");
    }
    SUBCASE("the database has no tables, but routemaster's application id") {
        fs::remove(file);
        run_sql(file, "PRAGMA application_id=1234");
        check_refused(file, Errc::invalid, "not of routemaster");
    }
}

TEST_CASE("a file of a newer format version is refused") {
    FileScene scene;
    scene.publish("1");
    scene.close();
    run_sql(scene.file, "PRAGMA user_version=13");
    check_refused(scene.file, Errc::invalid, "format 13 is newer than format 12");
    for (const char* known : {"PRAGMA user_version=12", "PRAGMA user_version=11"}) {
        run_sql(scene.file, known);
        CHECK(!refusal_of(scene.file));
    }
}

TEST_CASE("a file of format 1 is read, and continues in the present format") {
    FileScene scene;
    scene.must(scene.job("old"));
    scene.must(scene.job("kept"));
    scene.close();
    // The removal of job "old" in format 1, with the checksum for row 3.
    run_sql(scene.file,
            "INSERT INTO journal VALUES (3, 1987976946, x'930ca4776f726ba36f6c64');"
            "PRAGMA user_version=1");
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.ready = 1});
    CHECK(scene.must(scene.job("kept")) == PushOutcome::duplicate);
    CHECK(scene.must(scene.job("old")) == PushOutcome::pushed);
    scene.close();
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.ready = 2});
}

TEST_CASE("jobs in a file of format 3 have default options, and ids in the order of pushes") {
    FileScene scene;
    scene.close();
    // The job [11, "work", "old", 1, 7, nil], with the checksum for row 1.
    run_sql(scene.file,
            "INSERT INTO journal VALUES (1, 1812467508, "
            "x'960ba4776f726ba36f6c64cf000000000000000107c0');"
            "PRAGMA user_version=3");
    scene.open();
    const auto old = scene.must(FindJob{"work", 7});
    REQUIRE(old);
    CHECK(old->job == "old");
    CHECK(old->options == JobOptions{});
    CHECK(old->attempts == 0);
    CHECK(scene.must(scene.job("new")).id == 8);
}

TEST_CASE("jobs in a file of format 4 keep their options, and have no keys") {
    FileScene scene;
    scene.close();
    // The job [11, "work", "old", 1, 7, nil, 2, 5, 9, 9007199254740, nil, []], with the checksum
    // for row 1.
    run_sql(scene.file,
            "INSERT INTO journal VALUES (1, 1301016194, "
            "x'9c0ba4776f726ba36f6c640107c0020509cf0000083126e978d4c090');"
            "PRAGMA user_version=4");
    scene.open();
    const auto old = scene.must(FindJob{"work", 7});
    REQUIRE(old);
    CHECK(old->options == JobOptions{.attempts_max = 5,
                                     .timeout = Duration{9},
                                     .expires_at = from_milliseconds(9'007'199'254'740)});
    CHECK(old->attempts == 2);
    CHECK(scene.must(scene.job("old")) == PushOutcome::duplicate);
}

TEST_CASE("a file of format 6 has no recurring jobs, and accepts new recurring jobs") {
    FileScene scene;
    scene.must(PauseQueue{"work", true});
    scene.close();
    run_sql(scene.file, "PRAGMA user_version=6");
    scene.open();
    CHECK(scene.queue("work").paused);
    CHECK(scene.must(ListRecurringJobs{}).empty());
    scene.must(PutRecurringJob{"report",
                               std::make_shared<const RecurringSettings>(RecurringSettings{
                                   .schedule = "@daily", .queue = "work", .job = "report"}),
                               Uid{1, 1}});
    scene.close();
    scene.open();
    CHECK(scene.must(ListRecurringJobs{}).size() == 1);
}

TEST_CASE("jobs in a file of format 7 have no group, and later jobs may have a group") {
    FileScene scene;
    scene.must(PushJob{"work", "old", scene.now, {.priority = 3}});
    scene.close();
    run_sql(scene.file, "PRAGMA user_version=7");
    scene.open();
    CHECK(scene.must(FindJob{"work", 1})->options == JobOptions{.priority = 3});
    PushJob step{"work", "new", scene.now, {.priority = 3}};
    step.options.group = "g";
    step.options.concurrency = 7;
    const auto options = step.options;
    CHECK(scene.must(std::move(step)).id == 2);
    scene.close();
    scene.open();
    CHECK(scene.must(FindJob{"work", 2})->options == options);
    CHECK(scene.queue("work") == QueueStatus{.ready = 2});
}

TEST_CASE("jobs in a file of format 7 are kept, and new jobs may depend on them") {
    FileScene scene;
    const auto old = scene.must(PushJob{"work", "old", scene.now, {.priority = 1}}).id;
    scene.close();
    run_sql(scene.file, "PRAGMA user_version=7");
    scene.open();
    auto push = scene.job("new");
    push.after = {old};
    scene.must(push);
    scene.close();
    scene.open();
    CHECK(scene.queue("work") == QueueStatus{.scheduled = 1, .ready = 1});
    CHECK(take(scene).job == "old");
}

TEST_CASE("a file of format 8 has no batches of jobs, and accepts new batches") {
    FileScene scene;
    const auto old = scene.must(PushJob{"work", "old", scene.now, {.group = "g"}}).id;
    scene.close();
    run_sql(scene.file, "PRAGMA user_version=8");
    scene.open();
    CHECK(scene.must(FindJob{"work", old})->options == JobOptions{.group = "g"});
    CHECK(scene.must(ListJobBatches{}).batches.empty());
    const auto batch = scene
                           .must(CreateJobBatch{std::make_shared<const JobBatchSettings>(
                               JobBatchSettings{.name = "import"})})
                           .id;
    const auto id = scene.must(PushJob{"work", "new", scene.now, {.batch = batch}}).id;
    scene.close();
    scene.open();
    CHECK(scene.must(FindJob{"work", id})->options.batch == batch);
    CHECK(scene.must(FindJobBatch{batch})->progress.total == 1);
}

TEST_CASE("jobs in a file of format 9 keep their places in their groups") {
    FileScene scene;
    scene.close();
    // The job [11, "work", "old", 1, 7, nil, 0, 25, 0, 2^63 - 1, nil, [], "", 0, 2^63 - 1, false,
    // [], false, 0, {1: "g", 2: 3, 5: 1000}], with the checksum for row 1.
    run_sql(scene.file,
            "INSERT INTO journal VALUES (1, 3892040868, "
            "x'dc00140ba4776f726ba36f6c640107c0001900cf7fffffffffffffffc090a000cf7fffffffff"
            "ffffffc290c2008301a167020305cd03e8');"
            "PRAGMA user_version=9");
    scene.open();
    CHECK(scene.must(FindJob{"work", 7})->options == JobOptions{.group = "g", .concurrency = 3});
    scene.must(PushJob{"work", "new", scene.now, {.group = "g"}});
    scene.close();
    scene.open();
    CHECK(scene.must(FindJob{"work", 8})->options == JobOptions{.group = "g"});
    CHECK(take(scene).job == "old");
    CHECK(scene.must(AcquireJobs{"work", scene.worker}).leases.empty());
    // The old format did not record whether a job was begun, so this attempt is recorded at once,
    // and survives the restart.
    scene.close();
    scene.open();
    CHECK(scene.must(FindJob{"work", 7})->attempts == 1);
}

TEST_CASE("a missing folder, and a folder in place of the file, are refused") {
    const TemporaryFolder folder;
    check_refused(folder.path() / "missing" / "bus.db", Errc::unavailable,
                  "cannot open it: No such file or directory");
    check_refused(folder.path(), Errc::invalid, "is a folder");
}

TEST_CASE("a folder without write permission is not reported as missing") {
    // In this folder of the kernel even root cannot create files.
    const fs::path file{"/sys/kernel/bus.db"};
    check_refused(file, Errc::unavailable, "cannot open it: ");
    CHECK(refusal_of(file)->context().find("No such file") == std::string::npos);
}

TEST_CASE("a file store is opened by its URL, and an error is returned as a result") {
    const TemporaryFolder folder;
    const auto url = "file:" + (folder.path() / "bus.db").string();
    {
        const auto store = open_store(url);
        REQUIRE(store);
        const auto second = open_store(url);
        REQUIRE(!second);
        CHECK(second.error().code() == Errc::unavailable);
        CHECK(second.error().context() ==
              (folder.path() / "bus.db").string() + ": in use by this process already");
    }
    CHECK(open_store(url + "?durability=relaxed"));
    CHECK(open_store(url + "?memory_max=1000000&durability=strict"));
    CHECK(open_store(url + "?memory_max=1MiB"));
    CHECK(open_store(url + "?reserve=0"));
    CHECK(open_store(url + "?accept_damage=1"));
    CHECK(open_store(url + "?reserve=1MB&memory_max=0"));
    for (const char* wrong :
         {"?", "?durability=some", "?memory_max=", "?memory_max=1XB", "?memory_max=-1",
          "?memory_max=1&", "?reserve=", "?reserve=1XB", "?accept_damage=2", "?cache=1"}) {
        const auto refused = open_store(url + wrong);
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::invalid);
        CHECK(refused.error().context().find("memory_max=BYTES") != std::string::npos);
    }
    CHECK(open_store("memory:"));
    for (const std::string bad : {"", "bus.db", "file:", "file://", "redis:x",
                                  "file:x?durability=perhaps", "file:x?sync=1"}) {
        const auto refused = open_store(bad);
        REQUIRE(!refused);
        CHECK(refused.error().code() == Errc::invalid);
        CHECK(refused.error().context().starts_with("store URL '" + bad + "': "));
    }
    const auto strange = open_store("file:/etc/passwd");
    REQUIRE(!strange);
    CHECK(strange.error().code() == Errc::invalid);
    CHECK(strange.error().context() ==
          "/etc/passwd: is not a routemaster file, or its beginning is damaged");
    CHECK(open_store("postgres://localhost").error().context() ==
          "store URL 'postgres://localhost': begin it with memory:, file:, redis://, rediss://, "
          "redis+sentinel:// or rediss+sentinel://");
}
