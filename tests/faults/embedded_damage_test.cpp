/// @file
/// The embedded store with a damaged file.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>

#include "disk.hpp"
#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

fs::path log_of(const fs::path& file) { return file.string() + "-wal"; }

/// The file and the log that a crash leaves after `events` publications, with one row each.
struct Crashed {
    explicit Crashed(int events) {
        FileScene scene;
        scene.subscribe("billing", 1);
        for (int n = 1; n <= events; ++n) scene.publish(std::to_string(n));
        main = bytes_of(scene.file);
        log = bytes_of(log_of(scene.file));
        REQUIRE(log.size() > static_cast<std::size_t>(events) * 4'096);
    }

    std::string main;
    std::string log;
};

constexpr std::size_t header_bytes = 32;
constexpr std::size_t frame_bytes = 24 + (16 << 10);

std::size_t frames_in(const std::string& log) { return (log.size() - header_bytes) / frame_bytes; }

/// The offset of a frame, counted from 0.
std::size_t place_of_frame(std::size_t frame) { return header_bytes + frame * frame_bytes; }

std::string with_bit_changed(std::string bytes, std::size_t place, unsigned bit) {
    bytes[place] = static_cast<char>(static_cast<unsigned char>(bytes[place]) ^ (1U << bit));
    return bytes;
}

/// The number of publications found when a file and its log are opened; nothing when they are
/// refused as damaged. Checks that the publications found are the first ones, in order.
std::optional<std::size_t> survivors(const std::string& main, const std::string& log) {
    FileScene scene;
    scene.close();
    write_file(scene.file, main);
    write_file(log_of(scene.file), log);
    if (const auto refusal = refusal_of(scene.file)) {
        CHECK(refusal->code() == Errc::corrupted);
        CHECK(refusal->context().starts_with(scene.file.string() + ": "));
        CHECK_MESSAGE(bytes_of(scene.file) == main, "nothing is changed by being refused");
        CHECK(bytes_of(log_of(scene.file)) == log);
        return std::nullopt;
    }
    scene.open();
    if (!scene.must(FindSubscriber{"billing"})) return 0;
    const auto messages = scene.drain();
    CHECK(joined(messages) == joined(numbers(1, static_cast<int>(messages.size()))));
    return messages.size();
}

/// The offset of a job's text in a file.
std::size_t place_of(const std::string& bytes, const std::string& text) {
    const auto place = bytes.find(text);
    REQUIRE(place != std::string::npos);
    REQUIRE(bytes.find(text, place + 1) == std::string::npos);
    return place;
}

}  // namespace

TEST_CASE("an intact SQLite log loses nothing") {
    const Crashed crashed{50};
    CHECK(survivors(crashed.main, crashed.log) == 50);
}

TEST_CASE("a SQLite log whose last commit was cut off loses only this commit") {
    const Crashed crashed{20};
    // The last commit is at least one page long, so the frame before the last belongs to another
    // commit.
    const auto last = place_of_frame(frames_in(crashed.log) - 1);
    for (auto size = last; size < last + frame_bytes; size += 401) {
        CAPTURE(size);
        CHECK(survivors(crashed.main, crashed.log.substr(0, size)) == 19);
        // When a log was restarted, frames of the previous log follow its end.
        auto torn = crashed.log.substr(0, size);
        torn.resize(crashed.log.size() + frame_bytes, '\x11');
        CHECK(survivors(crashed.main, torn) == 19);
    }
    CHECK(survivors(crashed.main, crashed.log.substr(0, last + frame_bytes)) == 20);
}

TEST_CASE(
    "a last commit of several pages that reached the disk in part is not reported as damage") {
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto before = bytes_of(log_of(scene.file)).size();
    scene.publish("2" + std::string(100'000, '.'));
    const auto main = bytes_of(scene.file);
    auto log = bytes_of(log_of(scene.file));
    // As after a power loss before any step completed: without the mark.
    log.resize(place_of_frame(frames_in(log)));
    const auto first = (before - header_bytes) / frame_bytes;
    REQUIRE(frames_in(log) > first + 4);
    for (auto hole = first; hole < frames_in(log); ++hole) {
        CAPTURE(hole);
        auto torn = log;
        torn.replace(place_of_frame(hole), 4'096, 4'096, '\0');
        CHECK(survivors(main, torn) == 1);
        torn.replace(place_of_frame(hole), frame_bytes, frame_bytes, '\0');
        CHECK(survivors(main, torn) == 1);
    }
}

TEST_CASE("a SQLite log with any changed bit loses nothing, or the file is refused") {
    const Crashed crashed{20};
    const auto number = seed(12);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    const auto check = [&](std::size_t place, unsigned bit) {
        CAPTURE(place);
        CAPTURE(bit);
        const auto found = survivors(crashed.main, with_bit_changed(crashed.log, place, bit));
        CHECK(found.value_or(20) == 20);
        return !found;
    };
    int refused = 0;
    for (std::size_t place = 0; place < header_bytes; ++place) {
        refused += check(place, static_cast<unsigned>(random.below(8)));
    }
    CHECK(refused == header_bytes);
    for (std::size_t frame = 0; frame < frames_in(crashed.log); ++frame) {
        const auto begin = place_of_frame(frame);
        for (std::size_t word = 0; word < 6; ++word) {
            CHECK(
                check(begin + 4 * word + random.below(4), static_cast<unsigned>(random.below(8))));
        }
        for (int round = 0; round < 4; ++round) {
            CHECK(check(begin + 24 + random.below(frame_bytes - 24),
                        static_cast<unsigned>(random.below(8))));
        }
    }
    // Without the mark at the end, all rows are still found.
    for (auto place = place_of_frame(frames_in(crashed.log)); place < crashed.log.size(); ++place) {
        CHECK_FALSE(check(place, static_cast<unsigned>(random.below(8))));
    }
}

TEST_CASE("damage before an incomplete commit is found even without the mark of synced commits") {
    const Crashed crashed{20};
    // The next commit has started to overwrite the mark, or is complete but not acknowledged.
    const auto whole = crashed.log.substr(0, place_of_frame(frames_in(crashed.log)));
    for (const std::size_t cut : {0U, 24U, 5'000U}) {
        CAPTURE(cut);
        const auto log = whole.substr(0, whole.size() - cut);
        const auto complete = cut == 0 ? 20U : 19U;
        CHECK(survivors(crashed.main, log) == complete);
        for (std::size_t frame = 0; frame + 2 < frames_in(whole); ++frame) {
            for (const std::size_t place : {2U, 6U, 9U, 18U, 22U, 24U, 9'000U}) {
                CAPTURE(frame);
                CAPTURE(place);
                CHECK_FALSE(survivors(crashed.main,
                                      with_bit_changed(log, place_of_frame(frame) + place, 3)));
            }
        }
    }
}

TEST_CASE("a lost block of SQLite's log is found, whatever data the block had") {
    const Crashed crashed{20};
    for (std::size_t place = 0; place + 4'096 < crashed.log.size(); place += 4'096) {
        CAPTURE(place);
        auto log = crashed.log;
        log.replace(place, 4'096, 4'096, 'Z');
        CHECK_FALSE(survivors(crashed.main, log));
    }
}

TEST_CASE("garbage after the end of SQLite's log is not read") {
    const Crashed crashed{20};
    CHECK(survivors(crashed.main, crashed.log + std::string(10'000, 'x')) == 20);
    CHECK(survivors(crashed.main, crashed.log + crashed.log) == 20);
}

TEST_CASE("remains of failed commits after the end of SQLite's log are not reported as damage") {
    for (std::uint64_t nth = 1;; ++nth) {
        CAPTURE(nth);
        REQUIRE(nth < 1'000);
        Disk disk;
        FileScene scene;
        scene.subscribe("billing", 1);
        scene.publish("1");
        disk.fail_changes(nth, true);
        const auto large = scene.perform(scene.event(std::string(200'000, '2')));
        const bool failed = disk.failures() > 0;
        // While the disk fails, the files do not change, so both copies are consistent.
        const auto look = [&] {
            const auto main = bytes_of(scene.file);
            const auto log = bytes_of(log_of(scene.file));
            disk.heal();
            FileScene left;
            left.close();
            write_file(left.file, main);
            write_file(log_of(left.file), log);
            left.open();
            return left.drain().size();
        };
        CHECK(look() >= 1);
        while (!scene.perform(scene.event("3"))) std::this_thread::yield();
        disk.fail_changes(1, true);
        CHECK(look() == (large ? 3 : 2));
        if (!failed) break;
    }
}

TEST_CASE("a missing SQLite log is noticed, and a log without its database file is kept") {
    const Crashed crashed{20};
    FileScene scene;
    scene.close();
    std::string text = "its write-ahead log is missing";
    SUBCASE("the log is missing") { write_file(scene.file, crashed.main); }
    SUBCASE("the log is empty") {
        write_file(scene.file, crashed.main);
        write_file(log_of(scene.file), "");
    }
    SUBCASE("the log was cut off in its first commit") {
        write_file(scene.file, crashed.main);
        write_file(log_of(scene.file), crashed.log.substr(0, 400));
    }
    SUBCASE("the database file is missing") {
        fs::remove(scene.file);
        write_file(log_of(scene.file), crashed.log);
        text = "the file is missing or empty, but its write-ahead log exists";
    }
    SUBCASE("the database file is empty") {
        write_file(scene.file, "");
        write_file(log_of(scene.file), crashed.log);
        text = "the file is missing or empty, but its write-ahead log exists";
    }
    for (int twice = 0; twice < 2; ++twice) {
        const auto refusal = refusal_of(scene.file);
        REQUIRE(refusal);
        CHECK(refusal->code() == Errc::corrupted);
        CHECK(refusal->context().find(text) != std::string::npos);
    }
    // When the log is restored, all rows are found.
    write_file(scene.file, crashed.main);
    write_file(log_of(scene.file), crashed.log);
    scene.open();
    CHECK(scene.drain().size() == 20);
    scene.close();
    CHECK_FALSE(fs::exists(log_of(scene.file)));
    CHECK_FALSE(refusal_of(scene.file));
}

TEST_CASE(
    "accepting damage of SQLite's log costs the rows after the damage, and the log is saved") {
    const Crashed crashed{20};
    FileScene scene;
    scene.close();
    write_file(scene.file, crashed.main);
    const auto kept = log_of(scene.file).string() + ".damaged";
    std::size_t left = 0;
    SUBCASE("a bit of the log is changed") {
        const auto log = with_bit_changed(crashed.log, place_of_frame(11) + 5'000, 2);
        write_file(log_of(scene.file), log);
        left = survivors(crashed.main, crashed.log.substr(0, place_of_frame(11))).value();
        CHECK(left > 5);
    }
    const auto log = bytes_of(log_of(scene.file));
    REQUIRE(refusal_of(scene.file));
    scene.store.emplace(scene.file, EmbeddedStoreOptions{.accept_damage = true});
    if (!log.empty()) CHECK(bytes_of(kept) == log);
    if (left > 0) scene.publish("21");
    // The same must be true if the process is killed now.
    FileScene copy;
    copy.close();
    write_file(copy.file, bytes_of(scene.file));
    write_file(log_of(copy.file), bytes_of(log_of(scene.file)));
    copy.open();
    scene.close();
    scene.open();
    if (left == 0) return;
    auto expected = numbers(1, static_cast<int>(left));
    expected.emplace_back("21");
    CHECK(joined(scene.drain()) == joined(expected));
    CHECK(joined(copy.drain()) == joined(expected));
}

TEST_CASE("the SQLite log of a file of the previous format version is read and checked") {
    FileScene scene;
    scene.close();
    fs::remove(scene.file);
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(scene.file.c_str(), &database) == SQLITE_OK);
    const auto run = [&](const std::string& sql) {
        CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    };
    run("PRAGMA page_size=16384; PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id=1919773292;"
        "CREATE TABLE journal (row INTEGER PRIMARY KEY, checksum INTEGER NOT NULL,"
        " effects BLOB NOT NULL) STRICT;"
        "CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT;"
        "PRAGMA user_version=2; PRAGMA journal_mode=WAL");
    // Three jobs, in rows with checksums.
    FileScene other;
    for (const char* name : {"a", "b", "c"}) other.must(other.job(name));
    other.close();
    run("ATTACH '" + other.file.string() + "' AS other");
    for (const char* row : {"1", "2", "3"}) {
        run(std::string{"INSERT INTO main.journal SELECT * FROM other.journal WHERE row = "} + row);
    }
    const auto main = bytes_of(scene.file);
    const auto log = bytes_of(log_of(scene.file));
    sqlite3_close(database);
    write_file(scene.file, main);
    write_file(log_of(scene.file), log);
    SUBCASE("the log is complete") {
        scene.open();
        CHECK(scene.queue("work") == QueueStatus{.ready = 3});
    }
    SUBCASE("the log is damaged") {
        write_file(log_of(scene.file), with_bit_changed(log, place_of_frame(0) + 9'000, 1));
        REQUIRE(refusal_of(scene.file));
        CHECK(refusal_of(scene.file)->code() == Errc::corrupted);
    }
    SUBCASE("the log is missing, and the file does not record whether it had a log") {
        fs::remove(log_of(scene.file));
        scene.open();
        CHECK(scene.queue("work") == QueueStatus{});
    }
}

TEST_CASE("the error about a damaged row names the row, and the file is not changed") {
    FileScene scene;
    for (int n = 1; n <= 30; ++n) scene.must(scene.job("job number " + std::to_string(1'000 + n)));
    scene.close();
    auto bytes = bytes_of(scene.file);
    bytes[place_of(bytes, "job number 1017")] = 'J';
    write_file(scene.file, bytes);

    const auto refusal = refusal_of(scene.file);
    REQUIRE(refusal);
    CHECK(refusal->code() == Errc::corrupted);
    CHECK(refusal->message() == scene.file.string() + ": row 17 is damaged: corrupted");
    CHECK(bytes_of(scene.file) == bytes);
}

TEST_CASE("the error about missing, exchanged or invalid rows names the rows") {
    FileScene scene;
    for (int n = 1; n <= 30; ++n) scene.must(scene.job(std::to_string(n)));
    scene.close();
    std::string sql;
    std::string expected;
    SUBCASE("a row is missing") {
        sql = "DELETE FROM journal WHERE row = 9";
        expected = "row 10 follows a gap";
    }
    SUBCASE("two rows are exchanged") {
        sql =
            "UPDATE journal SET (checksum, effects) ="
            " (SELECT checksum, effects FROM journal WHERE row = 5) WHERE row = 6";
        expected = "row 6 is damaged";
    }
    SUBCASE("a row is empty") {
        // A single changed bit in SQLite's record header can have this effect.
        sql =
            "PRAGMA writable_schema=ON;"
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE journal (row INTEGER PRIMARY KEY,"
            " checksum INTEGER, effects BLOB) STRICT' WHERE name = 'journal';"
            "PRAGMA writable_schema=RESET;"
            "UPDATE journal SET checksum = NULL, effects = NULL WHERE row = 6";
        expected = "row 6 is damaged";
    }
    SUBCASE("a row has no changes") {
        // Row 31 with a valid checksum, and the byte c1, which is not MessagePack.
        sql = "INSERT INTO journal VALUES (31, 2031315752, x'c1')";
        expected = "row 31: not a change at byte";
    }
    SUBCASE("a row has a change of an unknown kind") {
        sql = "INSERT INTO journal VALUES (31, 430766982, x'91cc63')";
        expected = "row 31: a change at byte";
    }
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(scene.file.c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);

    const auto refusal = refusal_of(scene.file);
    REQUIRE(refusal);
    CHECK(refusal->code() == Errc::corrupted);
    CHECK(refusal->context().starts_with(scene.file.string() + ": "));
    CHECK_MESSAGE(refusal->context().find(expected) != std::string::npos, refusal->context());
}

TEST_CASE("a file with a random bit changed is refused, or loses only its newest rows") {
    FileScene scene;
    scene.subscribe("billing", 1);
    for (int n = 1; n <= 200; ++n) scene.publish(std::to_string(n));
    scene.close();
    const auto bytes = bytes_of(scene.file);
    const auto number = seed(13);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    int refused = 0;
    for (int round = 0; round < 150; ++round) {
        auto changed = bytes;
        const auto place = static_cast<std::size_t>(random.below(bytes.size()));
        CAPTURE(place);
        changed[place] = static_cast<char>(changed[place] ^ (1 << random.below(8)));
        write_file(scene.file, changed);
        if (const auto refusal = refusal_of(scene.file)) {
            ++refused;
            CHECK(refusal->context().find(scene.file.string()) != std::string::npos);
            fs::remove(scene.file.string() + "-wal");
            fs::remove(scene.file.string() + "-journal");
            continue;
        }
        scene.open();
        const auto messages = scene.drain();
        CHECK(joined(messages) == joined(numbers(1, static_cast<int>(messages.size()))));
        scene.close();
    }
    CHECK(refused > 30);
}
