/// @file
/// The journal of the embedded store is compacted as it grows.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "support/await.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// Pushes and acknowledges `count` jobs, `each` per submission.
void push_and_ack(FileScene& scene, int count, int each) {
    for (int done = 0; done < count; done += each) {
        std::vector<Step> steps;
        for (int i = 0; i < each; ++i) steps.emplace_back(scene.job("job" + std::to_string(i)));
        steps.emplace_back(AcquireJobs{"work", scene.worker, static_cast<std::uint32_t>(each)});
        auto outcomes = perform_all(*scene.store, steps, scene.now);
        auto acquired = reply_of<AcquireJobs>(outcomes.back()).value();
        REQUIRE(acquired.leases.size() == static_cast<std::size_t>(each));
        steps.clear();
        for (auto& lease : acquired.leases) steps.emplace_back(AckJob{std::move(lease)});
        for (auto& outcome : perform_all(*scene.store, steps, scene.now)) {
            REQUIRE(reply_of<AckJob>(outcome).value() == Settlement::settled);
        }
    }
}

}  // namespace

TEST_CASE("100,000 short-lived jobs leave a small file, and its first rows are deleted") {
    FileScene scene{{.slack_max = 4'096}};
    scene.subscribe("billing");
    scene.publish("kept");
    push_and_ack(scene, 60'000, 100);
    // Sizes are compared while the store is closed. Before that, an unknown part of SQLite's log
    // may already be in the file.
    scene.close();
    const auto early = fs::file_size(scene.file);
    scene.open({.slack_max = 4'096});
    push_and_ack(scene, 40'000, 100);
    CHECK(fs::file_size(scene.file.string() + "-wal") < (24U << 20U));
    scene.close();
    CHECK(fs::file_size(scene.file) <= early + 64 * 1'024);
    CHECK(query(scene.file, "SELECT min(row) FROM journal") > 500);
    CHECK(query(scene.file, "SELECT sum(length(effects)) FROM journal") < 40'000);
    CHECK(query(scene.file, "SELECT count(*) FROM journal") < 600);

    scene.open();
    CHECK(scene.queue("work") == QueueStatus{});
    CHECK(joined(scene.drain()) == "kept");
}

TEST_CASE("compaction of the file keeps all live data, and continues after reopening") {
    FileScene scene{{.slack_max = 4'096}};
    scene.subscribe("billing", 7);
    scene.subscribe("audit", 3);
    scene.must(PutToken{"key", "shop"});
    scene.must(PushJob{"later", "stays", scene.now + Duration{1'000'000}});
    int published = 0;
    std::int64_t first_row = 0;
    for (int life = 0; life < 4; ++life) {
        for (int i = 0; i < 25; ++i) scene.publish(std::to_string(++published));
        push_and_ack(scene, 3'000, 30);
        scene.close();
        const auto row = query(scene.file, "SELECT min(row) FROM journal");
        CHECK(row > first_row);
        first_row = row;
        scene.open({.slack_max = 4'096});
    }
    CHECK(scene.must(FindToken{"key"}) == "shop");
    CHECK(scene.queue("later").scheduled == 1);
    // The last batch before each restart is not full.
    CHECK(scene.status("billing").batches_queued == 4 * 4);
    CHECK(scene.status("audit").batches_queued == 4 * 9);
    CHECK(scene.must(ListTopics{}).at(0).events == 100);
    auto messages = scene.drain();
    std::vector<std::string> expected;
    for (int n = 1; n <= published; ++n) expected.insert(expected.end(), 2, std::to_string(n));
    std::sort(messages.begin(), messages.end());
    std::sort(expected.begin(), expected.end());
    CHECK(joined(messages) == joined(expected));
}

TEST_CASE("a long-lived batch is rewritten as one full record, and still takes events") {
    FileScene scene{{.slack_max = 4'096}};
    scene.subscribe("billing", 1'000);
    for (int n = 1; n <= 30; ++n) {
        scene.publish(std::to_string(n));
        push_and_ack(scene, 100, 4);
    }
    scene.close();
    CHECK(query(scene.file, "SELECT min(row) FROM journal") > 1'000);
    scene.open();
    CHECK(joined(scene.drain()) == joined(numbers(1, 30)));
}

TEST_CASE("compaction does not rewrite data that is no longer needed") {
    FileScene scene;
    constexpr int jobs = 64;
    const std::string filler(60'000, '.');
    for (int i = 0; i < jobs; ++i) scene.must(scene.job(std::to_string(i) + filler));
    scene.close();
    scene.open();
    std::vector<Step> acks;
    for (auto& lease : scene.must(AcquireJobs{"work", scene.worker, jobs}).leases) {
        acks.emplace_back(AckJob{std::move(lease)});
    }
    CHECK(acks.size() == jobs);
    for (auto& outcome : perform_all(*scene.store, acks, scene.now)) {
        CHECK(reply_of<AckJob>(outcome).value() == Settlement::settled);
    }
    // The acks make about 300,000 bytes obsolete.
    CHECK(fs::file_size(scene.file.string() + "-wal") < 150'000);
}

TEST_CASE("a store that was full returns its disk space once it is empty") {
    FileScene scene{{.slack_max = 4'096, .memory_max = 100'000}};
    const auto size = [&] {
        return fs::file_size(scene.file) + fs::file_size(scene.file.string() + "-wal");
    };
    constexpr int jobs = 1'000;
    const std::string filler(60'000, '.');
    for (int i = 0; i < jobs; ++i) scene.must(scene.job(std::to_string(i) + filler));
    CHECK(size() > 60'000'000);
    for (int i = 0; i < jobs; ++i) {
        const auto lease = scene.must(AcquireJobs{"work", scene.worker, 1}).leases.at(0);
        CHECK(scene.must(AckJob{lease}) == Settlement::settled);
    }
    CHECK(await([&] { return size() < 30'000'000; }));
    scene.must(scene.job("still works"));
    scene.close();
    scene.open();
    CHECK(scene.queue("work").ready == 1);
}
