/// @file
/// Checking and exporting a store's file without opening the store.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/embedded_file.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A bus with one entity of each kind, and three jobs. One job is not encoded by routemaster.
struct Shop : FileScene {
    Shop() {
        must(PutToken{"t", "shop"});
        subscribe("billing");
        for (const char* url : {"https://a/1", "https://a/2"}) {
            publish(
                encode_message({.topic = "orders", .type = EventType::create, .url = url}, now));
        }
        must(job(encode_job({"resize", {Value{42}, Value{"large"}}})));
        must(job(std::string{"\xd9 none"}));
        close();
    }

    void run(const std::string& sql) const {
        sqlite3* database = nullptr;
        REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
        CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
        sqlite3_close(database);
    }

    [[nodiscard]] std::string exported() const {
        std::string all;
        const auto report = export_embedded_file(
            file, [&](std::string_view line) { all.append(line).append("\n"); });
        REQUIRE(report.has_value());
        return all;
    }
};

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("an intact file is reported as intact, with its contents") {
    const Shop shop;
    const auto report = check_embedded_file(shop.file).value();
    CHECK(report.damage.empty());
    CHECK(report.rows == 6);
    CHECK(report.bytes > 0);
    CHECK(report.topics == 1);
    CHECK(report.subscribers == 1);
    CHECK(report.tokens == 1);
    CHECK(report.batches == 1);
    CHECK(report.events == 2);
    CHECK(report.jobs == 3);
    CHECK(report.counters > 0);
}

TEST_CASE("all data of a file is exported as lines of JSON") {
    const Shop shop;
    const auto lines = shop.exported();
    CHECK(contains(lines, R"({"topic":{"name":"orders","publisher":null,"events":2}})"));
    CHECK(contains(lines,
                   R"({"subscriber":{"token":"billing","callback":"https://billing.example/")"));
    CHECK(contains(lines, R"({"token":{"token":"t","name":"shop"}})"));
    CHECK(contains(lines, R"("attempts":0,"undecodable":0,"events":[{"topic":"orders",)"));
    CHECK(contains(lines, R"("url":"https://a/2")"));
    CHECK(contains(lines, R"("name":"resize","arguments":[42,"large"]}})"));
    CHECK(contains(lines, R"("hex":"d9206e6f6e65"}})"));
    CHECK(contains(lines,
                   R"({"counter":{"name":"events.added","tags":{"queue":"billing"},"value":2}})"));
    for (std::size_t begin = 0; begin < lines.size();) {
        const auto end = lines.find('\n', begin);
        CHECK(parse_json(lines.substr(begin, end - begin)).has_value());
        begin = end + 1;
    }
}

TEST_CASE("the rows before and after damage are exported, and the damage is located") {
    const Shop shop;
    SUBCASE("a row is changed") {
        shop.run("UPDATE journal SET effects = zeroblob(length(effects)) WHERE row = 4");
        const auto report = check_embedded_file(shop.file).value();
        CHECK(report.rows == 5);
        REQUIRE(report.damage.size() == 1);
        CHECK(contains(report.damage.front(), "row 4 is damaged"));
    }
    SUBCASE("a row is missing") {
        shop.run("DELETE FROM journal WHERE row = 4");
        const auto report = check_embedded_file(shop.file).value();
        REQUIRE(report.damage.size() == 1);
        CHECK(contains(report.damage.front(), "row 4 is missing"));
    }
    const auto lines = shop.exported();
    CHECK_FALSE(contains(lines, "https://a/2"));
    CHECK(contains(lines, "https://a/1"));
    CHECK(contains(lines, "resize"));
    const auto refusal = refusal_of(shop.file);
    REQUIRE(refusal);
    CHECK_MESSAGE(refusal->code() == Errc::corrupted, "a store does not open such a file");
}

TEST_CASE("rows on a damaged page are reported as one range") {
    FileScene scene;
    for (int n = 0; n < 60; ++n) {
        scene.must(scene.job(encode_job({std::string(2'000, 'x') + std::to_string(n), {}})));
    }
    scene.close();
    constexpr std::streamoff page_bytes = 16 << 10;
    {
        std::fstream bytes{scene.file, std::ios::binary | std::ios::in | std::ios::out};
        bytes.seekp(6 * page_bytes);
        bytes << std::string(64, '\xff');
    }
    const auto report = check_embedded_file(scene.file).value();
    std::vector<std::string> unread;
    for (const auto& line : report.damage) {
        if (contains(line, "cannot read it")) unread.push_back(line);
    }
    CAPTURE(joined(report.damage));
    REQUIRE(unread.size() == 1);
    CHECK(unread.front().starts_with("rows "));
    CHECK(contains(unread.front(), " to "));
    CHECK(report.rows > 40);
    CHECK(report.rows < 60);
}

TEST_CASE("a damaged SQLite log is reported, and the rows before the damage are exported") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "bus.db";
    const auto log = file.string() + "-wal";
    {
        FileScene scene;
        for (int n = 0; n < 9; ++n) scene.must(scene.job(encode_job({std::to_string(n), {}})));
        std::filesystem::copy_file(scene.file, file);
        std::filesystem::copy_file(scene.file.string() + "-wal", log);
    }
    std::fstream{log, std::ios::binary | std::ios::in | std::ios::out}.seekp(100'000).put('!');
    for (int twice = 0; twice < 2; ++twice) {
        const auto report = check_embedded_file(file).value();
        REQUIRE(report.damage.size() == 1);
        CHECK(contains(report.damage.front(), "its write-ahead log is damaged behind byte 98480"));
        CHECK(report.jobs == 6);
    }
    std::filesystem::remove(log);
    const auto report = check_embedded_file(file).value();
    REQUIRE(report.damage.size() == 1);
    CHECK(contains(report.damage.front(), "its write-ahead log is missing"));
}

TEST_CASE("of extensive damage only a part is listed, with the extent of the damage") {
    Shop shop;
    shop.open();
    for (int n = 0; n < 300; ++n) shop.must(shop.job(std::to_string(n)));
    shop.close();
    shop.run("DELETE FROM journal WHERE row > 10 AND row < 300");
    const auto report = check_embedded_file(shop.file).value();
    CHECK(report.damage.size() == 101);
    CHECK(report.damage.back() == "289 problems in all");
}

TEST_CASE("a foreign file, or a file in use, is refused and not changed") {
    FileScene scene;
    const auto why = [](const std::filesystem::path& file) {
        const auto report = check_embedded_file(file);
        return report ? std::string{} : report.error().message();
    };
    CHECK(contains(why(scene.folder.path() / "nothing"), "there is no such file: unavailable"));
    CHECK(!std::filesystem::exists(scene.folder.path() / "nothing"));
    const auto other = scene.folder.path() / "other";
    std::ofstream{other} << "";
    CHECK(contains(why(other), "is empty: invalid"));
    CHECK(std::filesystem::file_size(other) == 0);
    std::ofstream{other} << "something else, and quite long enough to be looked at";
    CHECK(contains(why(other), "is not a routemaster file"));
    CHECK(contains(why(scene.file), "in use"));
}
