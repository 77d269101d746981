/// @file
/// What the embedded store makes of a file that was damaged.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "file_scene.hpp"
#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

std::string bytes_of(const fs::path& file) {
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

void write_file(const fs::path& file, const std::string& bytes) {
    std::ofstream{file, std::ios::binary} << bytes;
}

/// What a crash leaves after `events` publications, one row each: the file and its log.
struct Crashed {
    explicit Crashed(int events) {
        FileScene scene;
        scene.subscribe("billing", 1);
        for (int n = 1; n <= events; ++n) scene.publish(std::to_string(n));
        main = bytes_of(scene.file);
        log = bytes_of(scene.file.string() + "-wal");
        REQUIRE(log.size() > static_cast<std::size_t>(events) * 4'096);
    }

    std::string main;
    std::string log;
};

/// How many of the publications are there when a file and its log are opened; they must be the
/// first ones, in order.
std::size_t survivors(const std::string& main, const std::string& log) {
    FileScene scene;
    scene.close();
    write_file(scene.file, main);
    write_file(scene.file.string() + "-wal", log);
    scene.open();
    if (!scene.must(FindSubscriber{"billing"})) return 0;
    const auto messages = scene.drain();
    CHECK(joined(messages) == joined(numbers(1, static_cast<int>(messages.size()))));
    return messages.size();
}

/// Where the text of a job stands in a file.
std::size_t place_of(const std::string& bytes, const std::string& text) {
    const auto place = bytes.find(text);
    REQUIRE(place != std::string::npos);
    REQUIRE(bytes.find(text, place + 1) == std::string::npos);
    return place;
}

}  // namespace

TEST_CASE("a log that is whole gives everything") {
    const Crashed crashed{50};
    CHECK(survivors(crashed.main, crashed.log) == 50);
}

TEST_CASE("a log that was cut off anywhere gives what came before the cut") {
    const Crashed crashed{40};
    Random random{seed(11)};
    std::size_t shortest = 40;
    std::size_t before = 0;
    for (std::size_t size = 0; size < crashed.log.size();
         size += 3'000 + static_cast<std::size_t>(random.below(6'000))) {
        CAPTURE(size);
        const auto found = survivors(crashed.main, crashed.log.substr(0, size));
        CHECK(found >= before);
        CHECK(found < 40);
        before = found;
        shortest = std::min(shortest, found);
    }
    CHECK(shortest == 0);
    CHECK(before >= 35);
}

TEST_CASE("a log with a changed byte gives what came before it") {
    const Crashed crashed{40};
    const auto number = seed(12);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    for (int round = 0; round < 30; ++round) {
        auto log = crashed.log;
        // The 32 bytes of the log's own header, without which there is nothing, are left alone.
        const auto place = 32 + static_cast<std::size_t>(random.below(log.size() - 32));
        CAPTURE(place);
        log[place] = static_cast<char>(log[place] ^ (1 << random.below(8)));
        const auto found = survivors(crashed.main, log);
        CHECK(found < 40);
        // A publication takes two pages at most, each with a header of 24 bytes.
        CHECK(found + 3 >= place / (16'408 * 2));
    }
}

TEST_CASE("rubbish behind the end of the log is not read") {
    const Crashed crashed{20};
    CHECK(survivors(crashed.main, crashed.log + std::string(10'000, 'x')) == 20);
    CHECK(survivors(crashed.main, crashed.log + crashed.log) == 20);
}

TEST_CASE("a row that was damaged is named, and the file is not touched") {
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

TEST_CASE("rows that are missing, exchanged or no effects are named") {
    FileScene scene;
    for (int n = 1; n <= 30; ++n) scene.must(scene.job(std::to_string(n)));
    scene.close();
    std::string sql;
    std::string expected;
    SUBCASE("missing") {
        sql = "DELETE FROM journal WHERE row = 9";
        expected = "row 10 follows a gap";
    }
    SUBCASE("exchanged") {
        sql =
            "UPDATE journal SET (checksum, effects) ="
            " (SELECT checksum, effects FROM journal WHERE row = 5) WHERE row = 6";
        expected = "row 6 is damaged";
    }
    SUBCASE("emptied") {
        // As one changed bit in SQLite's own account of a row can make it look.
        sql =
            "PRAGMA writable_schema=ON;"
            "UPDATE sqlite_schema SET sql = 'CREATE TABLE journal (row INTEGER PRIMARY KEY,"
            " checksum INTEGER, effects BLOB) STRICT' WHERE name = 'journal';"
            "PRAGMA writable_schema=RESET;"
            "UPDATE journal SET checksum = NULL, effects = NULL WHERE row = 6";
        expected = "row 6 is damaged";
    }
    SUBCASE("no effects") {
        // The checksum of row 31 and the byte c1, which is no MessagePack.
        sql = "INSERT INTO journal VALUES (31, 2031315752, x'c1')";
        expected = "row 31: no effect at byte";
    }
    SUBCASE("an effect of an unknown kind") {
        sql = "INSERT INTO journal VALUES (31, 430766982, x'91cc63')";
        expected = "row 31: an effect at byte";
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

TEST_CASE("a file with a random bit changed is refused, or holds the beginning of what it held") {
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
