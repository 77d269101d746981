/// @file
/// DEAD batches in the file of the embedded store.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/embedded_file.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// A store with a subscriber whose batches have one event, and become DEAD at the first failure.
struct DeadScene : FileScene {
    explicit DeadScene(const FileOptions& settings = {}) : FileScene{settings}, options{settings} {
        must(Subscribe{"billing",
                       {"orders"},
                       {.callback = "https://billing.example/",
                        .timeout = Duration{0},
                        .max_events = 1,
                        .attempts_max = 1,
                        .age_max = Duration{1'000'000'000},
                        .dead_max = 5'000}});
    }

    /// Publishes a message, and fails its batch, which becomes DEAD.
    Uid die(const std::string& message) {
        publish(message);
        const auto lease = must(AcquireJobs{delivery_queue, worker, 1}).leases.at(0);
        const auto start = must(BeginDelivery{lease, Duration{0}});
        CHECK(must(SettleDelivery{.lease = lease, .begun_at = now, .error = "of " + message}) ==
              Settlement::dead);
        now += Duration{1};
        return start.batch;
    }

    [[nodiscard]] std::vector<DeadBatchStatus> dead() {
        return must(ListDeadBatches{"billing", 10'000});
    }

    /// The messages of the DEAD batches, in the order of death.
    std::vector<std::string> dead_messages() {
        std::vector<std::string> all;
        for (const auto& batch : dead()) {
            const auto found = must(FindDeadBatch{"billing", batch.uid}).value();
            CHECK(found.status == batch);
            for (const auto message : found.messages) all.emplace_back(message);
        }
        return all;
    }

    void reopen() {
        close();
        open(options);
    }

    /// Pushes and acknowledges jobs until all old rows have been forgotten.
    void churn() {
        for (int round = 0; round < 300; ++round) {
            std::vector<Step> steps;
            for (int i = 0; i < 20; ++i) steps.emplace_back(job("job" + std::to_string(i)));
            steps.emplace_back(AcquireJobs{"work", worker, 20});
            auto outcomes = perform_all(*store, steps, now);
            auto acquired = reply_of<AcquireJobs>(outcomes.back()).value();
            steps.clear();
            for (auto& lease : acquired.leases) steps.emplace_back(AckJob{std::move(lease)});
            (void)perform_all(*store, steps, now);
        }
    }

    FileOptions options;
};

}  // namespace

TEST_CASE("DEAD batches and the settings for them survive a restart") {
    DeadScene scene;
    for (const char* message : {"1", "2", "3"}) scene.die(message);
    const auto before = scene.dead();
    const auto status = scene.status("billing");
    CHECK(status.batches_dead == 3);
    scene.reopen();
    CHECK(scene.dead() == before);
    CHECK(joined(scene.dead_messages()) == "1 2 3");
    CHECK(scene.dead().at(1).error == "of 2");
    auto after = scene.status("billing");
    after.last_attempted_at = status.last_attempted_at;
    CHECK(after == status);
    CHECK(scene.queue(delivery_queue) == QueueStatus{});
    CHECK(joined(scene.drain()) == "");
}

TEST_CASE("redelivered and dropped DEAD batches stay redelivered and dropped after a restart") {
    DeadScene scene;
    const auto first = scene.die("1");
    const auto second = scene.die("2");
    const auto third = scene.die("3");
    scene.die("4");
    scene.publish("5");
    CHECK(scene.must(RedeliverDeadBatches{"billing", second}) == Count{1});
    CHECK(scene.must(DropDeadBatches{"billing", third}) == Dropped{1, 1});
    const auto batches = scene.must(ListBatches{"billing"});
    const auto dead = scene.dead();
    CHECK(batches.size() == 2);
    CHECK(dead.size() == 2);
    scene.reopen();
    CHECK(scene.must(ListBatches{"billing"}) == batches);
    CHECK(scene.dead() == dead);
    CHECK(scene.dead().front().uid == first);
    CHECK(joined(scene.drain()) == "5 2");
    CHECK(scene.must(RedeliverDeadBatches{"billing"}) == Count{2});
    scene.reopen();
    CHECK(joined(scene.drain()) == "1 4");
    CHECK(scene.status("billing").batches_dead == 0);
}

TEST_CASE("a batch that is redelivered and becomes DEAD again keeps its newest state in the file") {
    DeadScene scene;
    const auto uid = scene.die("1");
    for (int i = 0; i < 3; ++i) {
        CHECK(scene.must(RedeliverDeadBatches{"billing", uid}) == Count{1});
        if (i == 1) scene.reopen();
        const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
        scene.must(BeginDelivery{lease, Duration{0}});
        scene.must(SettleDelivery{
            .lease = lease, .begun_at = scene.now, .error = "again " + std::to_string(i)});
        scene.now += Duration{1};
    }
    const auto before = scene.dead();
    scene.reopen();
    CHECK(scene.dead() == before);
    CHECK(scene.dead().at(0).error == "again 2");
    CHECK(joined(scene.dead_messages()) == "1");
}

TEST_CASE("compaction keeps complete records of DEAD batches and of redelivered batches") {
    FileOptions options{.slack_max = 4'096};
    SUBCASE("all payloads are kept in memory") {}
    SUBCASE("few payloads are kept in memory") { options.memory_max = 64; }
    DeadScene scene{options};
    std::vector<std::string> messages;
    for (int i = 1; i <= 30; ++i) {
        messages.push_back("message " + std::to_string(i));
        scene.die(messages.back());
    }
    const auto redelivered = scene.dead().at(4).uid;
    CHECK(scene.must(RedeliverDeadBatches{"billing", redelivered}) == Count{1});
    messages.erase(messages.begin() + 4);
    const auto before = scene.dead();
    const auto batches = scene.must(ListBatches{"billing"});
    for (int life = 0; life < 3; ++life) {
        scene.churn();
        CHECK(joined(scene.dead_messages()) == joined(messages));
        scene.reopen();
        CHECK(scene.dead() == before);
        CHECK(scene.must(ListBatches{"billing"}) == batches);
    }
    CHECK(joined(scene.dead_messages()) == joined(messages));
    scene.close();
    CHECK(query(scene.file, "SELECT min(row) FROM journal") > 500);
    CHECK(query(scene.file, "SELECT sum(length(effects)) FROM journal") < 60'000);
    scene.open(options);
    CHECK(joined(scene.drain()) == "message 5");
}

TEST_CASE("thousands of DEAD batches can be stored outside memory") {
    FileOptions options{.slack_max = 1U << 20U, .memory_max = 100'000};
    DeadScene scene{options};
    const std::string filler(5'000, '.');
    for (int i = 0; i < 1'000; ++i) scene.die(std::to_string(i) + filler);
    scene.reopen();
    const auto dead = scene.dead();
    REQUIRE(dead.size() == 1'000);
    for (const int i : {0, 500, 999}) {
        const auto found =
            scene.must(FindDeadBatch{"billing", dead[static_cast<std::size_t>(i)].uid}).value();
        CHECK(std::string{*found.messages.begin()} == std::to_string(i) + filler);
    }
    CHECK(scene.must(MeasureUse{}).bytes > 5'000'000);
    CHECK(scene.must(RedeliverDeadBatches{"billing"}) == Count{1'000});
    const auto messages = scene.drain();
    REQUIRE(messages.size() == 1'000);
    CHECK(messages[500] == "500" + filler);
    CHECK(scene.must(MeasureUse{}).bytes == 0);
}

TEST_CASE("the batch behind a DEAD batch is not handed out before the DEAD state is on disk") {
    // A crash could restore the first batch, which must then come first.
    DeadScene scene;
    scene.publish("1");
    scene.publish("2");
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    scene.must(BeginDelivery{lease, Duration{0}});
    std::vector<Step> steps;
    steps.emplace_back(SettleDelivery{.lease = lease, .begun_at = scene.now});
    bool settled = false;
    scene.store->submit(steps, scene.now, [&](std::span<Outcome>) { settled = true; });
    const auto next = scene.must(AcquireJobs{delivery_queue, scene.worker, 1});
    CHECK(settled);
    CHECK(next.leases.size() == 1);
}

TEST_CASE("subscribers in a file of format 2 are read, and their batches never become DEAD") {
    FileScene scene;
    scene.must(scene.job("first"));
    scene.close();
    // A subscriber in format 2: [3, "a", "local:a", "", 500, 100, 1, 100, nil, []], with the
    // checksum for row 2.
    sqlite3* database = nullptr;
    REQUIRE(sqlite3_open(scene.file.c_str(), &database) == SQLITE_OK);
    CHECK(sqlite3_exec(database,
                       "INSERT INTO journal VALUES (2, 4062336508, "
                       "x'9a03a161a76c6f63616c3a61a0cd01f4640164c090');"
                       "PRAGMA user_version=2",
                       nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(database);
    scene.open();
    const auto wants = scene.status("a").subscription;
    CHECK(wants == Subscription{.token = "a", .callback = "local:a", .uuid = ""});
    CHECK(!wants.dead_letters());
}

TEST_CASE("DEAD batches of a file are counted as batches, and exported with their events") {
    DeadScene scene;
    const Event event{.topic = "orders", .type = EventType::update, .url = "https://a.example/1"};
    const auto uid = scene.die(encode_message(event, scene.now));
    scene.publish("2");
    scene.close();
    const auto report = check_embedded_file(scene.file).value();
    CHECK(report.batches == 2);
    CHECK(report.dead == 1);
    CHECK(report.events == 2);
    std::string exported;
    export_embedded_file(scene.file, [&](std::string_view line) {
        if (line.find(uid.text()) != std::string_view::npos) exported += line;
    }).value();
    CHECK(exported.find(R"("died_at":)") != std::string::npos);
    CHECK(exported.find(R"("error":"of )") != std::string::npos);
    CHECK(exported.find(R"("url":"https://a.example/1")") != std::string::npos);
}
