/// @file
/// A backlog that is larger than the memory of the store.

#include <doctest/doctest.h>
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <span>
#include <string>
#include <vector>

#include "disk.hpp"
#include "file_bytes.hpp"
#include "file_scene.hpp"
#include "support/mappings.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

constexpr int jobs = 4'000;
constexpr int events = 4'000;
constexpr std::uint64_t memory_max = 100'000;

const std::string filler(200, '.');

/// A text of about 5,000 bytes that begins with `name`.
std::string large(const std::string& name) { return name + std::string(5'000, '.'); }

std::string numbered_job(int number) { return large("job " + std::to_string(number)); }
std::string large_message(int number) { return large("event " + std::to_string(number)); }

/// The number of allocated bytes.
std::size_t allocated() {
    const auto memory = mallinfo2();
    return memory.uordblks + memory.hblkhd + huge_page_bytes();
}

void push_all(FileScene& scene, const std::string& queue = "work") {
    for (int done = 0; done < jobs;) {
        std::vector<Step> steps;
        for (int n = 0; n < 100; ++n)
            steps.emplace_back(PushJob{queue, numbered_job(done++), scene.now});
        for (auto& outcome : perform_all(*scene.store, steps, scene.now)) {
            REQUIRE(reply_of<PushJob>(outcome).value() == PushOutcome::pushed);
        }
    }
}

void publish_all(FileScene& scene) {
    for (int done = 0; done < events;) {
        std::vector<Step> steps;
        for (int n = 0; n < 100; ++n) steps.emplace_back(scene.event(large_message(done++)));
        for (auto& outcome : perform_all(*scene.store, steps, scene.now)) {
            REQUIRE(reply_of<PublishEvent>(outcome));
        }
    }
}

/// Acquires all jobs in parts, and acknowledges them.
void finish_all(FileScene& scene) {
    for (int done = 0; done < jobs;) {
        const auto leases = scene.must(AcquireJobs{"work", scene.worker, 300}).leases;
        REQUIRE(!leases.empty());
        for (const auto& lease : leases) {
            REQUIRE(lease.job == numbered_job(done++));
            REQUIRE(scene.must(AckJob{lease}) == Settlement::settled);
        }
    }
    REQUIRE(scene.queue("work") == QueueStatus{});
}

/// Replaces each occurrence of a text in a file in use, and in its log. Returns whether there was
/// one.
bool overwrite(const std::filesystem::path& file, const std::string& text,
               const std::string& other) {
    REQUIRE(text.size() == other.size());
    bool found = false;
    for (const auto& name : {file.string(), file.string() + "-wal"}) {
        const auto bytes = bytes_of(name);
        std::fstream stream{name, std::ios::binary | std::ios::in | std::ios::out};
        for (auto at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
            stream.seekp(static_cast<std::streamoff>(at));
            stream << other;
            found = true;
        }
    }
    return found;
}

void deliver_all(FileScene& scene) {
    const auto messages = scene.drain();
    REQUIRE(messages.size() == static_cast<std::size_t>(events));
    for (int number = 0; number < events; ++number) {
        REQUIRE(messages[static_cast<std::size_t>(number)] == large_message(number));
    }
}

}  // namespace

TEST_CASE("a backlog of 40 MB takes little memory, and is read back complete and in order") {
    FileOptions options{.memory_max = memory_max};
    bool reopened = false;
    SUBCASE("the store stays open") {}
    SUBCASE("the store is reopened") { reopened = true; }
    SUBCASE("the journal is compacted often") { options.slack_max = 4'096; }
    FileScene scene{options};
    scene.subscribe("billing", 7);
    const auto before = allocated();
    push_all(scene);
    publish_all(scene);
    CHECK(allocated() - before < 8'000'000);
    CHECK_MESSAGE(
        scene.must(PushJob{"work", numbered_job(3'000), scene.now}) == PushOutcome::duplicate,
        "what is not in memory is known all the same");
    CHECK(scene.must(MeasureUse{}).bytes > 20'000'000);
    if (reopened) {
        scene.close();
        scene.open(options);
        CHECK(allocated() - before < 8'000'000);
    }
    // The backlog must stay complete, whatever happens to further jobs.
    for (int i = 0; i < 500; ++i) {
        scene.must(PushJob{"passing", std::to_string(i), scene.now});
    }
    scene.must(PutToken{"a", "b"});
    SUBCASE("jobs are pushed before the events") {
        finish_all(scene);
        deliver_all(scene);
    }
    SUBCASE("events are published before the jobs") {
        deliver_all(scene);
        finish_all(scene);
    }
}

TEST_CASE("in a long backlog, a job takes 160 bytes of memory and an event 64 bytes") {
    FileScene scene{{.memory_max = 1}};
    scene.subscribe("billing", 100);
    const auto grows = [&](int first, int last, const auto& step) {
        const auto before = static_cast<double>(allocated());
        for (int done = first; done < last;) {
            std::vector<Step> steps;
            for (int n = 0; n < 1'000; ++n) steps.emplace_back(step(std::to_string(done++)));
            for (auto& outcome : perform_all(*scene.store, steps, scene.now)) REQUIRE(outcome);
        }
        return (static_cast<double>(allocated()) - before) / (last - first);
    };
    const auto job = [&](const std::string& name) { return scene.job(name + filler); };
    const auto event = [&](const std::string& name) { return scene.event(name + filler); };
    // The first growth includes the store's own memory.
    grows(0, 20'000, job);
    CHECK(grows(20'000, 200'000, job) <= 160);
    CHECK(grows(0, 100'000, event) <= 64);
}

TEST_CASE(
    "a job whose payload cannot be read from the file is not lost, and not leased meanwhile") {
    Disk disk;
    FileScene scene{{.memory_max = 1}};
    for (const char* name : {"a", "b"}) scene.must(scene.job(large(name)));
    // Evicts the pages and payloads that the store or SQLite still caches.
    for (int i = 0; i < 1'000; ++i)
        scene.must(PushJob{"other", large(std::to_string(i)), scene.now});
    for (int i = 0; i < 50; ++i) scene.must(AcquireJobs{"other", scene.worker, 20});
    disk.fail_reads(1, true);
    const auto refused = scene.perform(AcquireJobs{"work", scene.worker, 10});
    REQUIRE(disk.failures() > 0);
    CHECK(!refused);
    CHECK(scene.queue("work") == QueueStatus{.ready = 2});
    disk.heal();
    const auto leases = scene.must(AcquireJobs{"work", scene.worker, 10}).leases;
    REQUIRE(leases.size() == 2);
    CHECK(leases[0].job == large("a"));
    CHECK(leases[1].job == large("b"));
}

TEST_CASE("a job whose row was damaged while the store was open is not leased") {
    FileScene scene{{.memory_max = 1}};
    scene.must(scene.job(large("intact")));
    // Evicts the pages and payloads that the store or SQLite still caches.
    for (int i = 0; i < 1'000; ++i)
        scene.must(PushJob{"other", large(std::to_string(i)), scene.now});
    for (int i = 0; i < 50; ++i) scene.must(AcquireJobs{"other", scene.worker, 20});
    REQUIRE(overwrite(scene.file, "intact", "broken"));
    const auto refused = scene.perform(AcquireJobs{"work", scene.worker, 10});
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::corrupted);
    CHECK(scene.queue("work") == QueueStatus{.ready = 1});
    REQUIRE(overwrite(scene.file, "broken", "intact"));
    // SQLite may still cache the damaged page.
    scene.close();
    scene.open();
    const auto leases = scene.must(AcquireJobs{"work", scene.worker, 10}).leases;
    REQUIRE(leases.size() == 1);
    CHECK(leases[0].job == large("intact"));
}

TEST_CASE("a batch whose payload cannot be read from the file is delivered later") {
    Disk disk;
    FileScene scene{{.memory_max = 1}};
    scene.subscribe("billing", 2);
    for (const char* name : {"a", "b"}) scene.publish(large(name));
    for (int i = 0; i < 1'000; ++i)
        scene.must(PushJob{"other", large(std::to_string(i)), scene.now});
    for (int i = 0; i < 50; ++i) scene.must(AcquireJobs{"other", scene.worker, 20});
    const auto lease = scene.must(AcquireJobs{delivery_queue, scene.worker, 1}).leases.at(0);
    disk.fail_reads(1, true);
    CHECK(!scene.perform(BeginDelivery{lease, Duration{0}}));
    REQUIRE(disk.failures() > 0);
    disk.heal();
    const auto start = scene.must(BeginDelivery{lease, Duration{0}});
    REQUIRE(start.verdict == Verdict::deliver);
    CHECK(start.attempt == 1);
    CHECK(start.messages.size() == 2);
    CHECK(scene.must(SettleDelivery{.lease = lease, .delivered = true, .begun_at = scene.now}) ==
          Settlement::settled);
}

TEST_CASE("payloads outside memory are read while a commit waits for the disk") {
    Disk disk;
    FileScene scene{{.memory_max = memory_max}};
    // Jobs of this queue have no counted attempts. Counting would wait for the commit.
    push_all(scene, "aux");
    scene.reserve_fences();
    SuspendedSyncs suspended{disk};
    std::promise<void> pushed;
    Step push{scene.job("another")};
    scene.store->submit({&push, 1}, scene.now, [&](std::span<Outcome>) { pushed.set_value(); });
    suspended.wait();
    // The acquired jobs were evicted, and are on disk: no part of the reply depends on the commit.
    auto acquired = std::async(std::launch::async, [&] {
        return scene.must(AcquireJobs{"aux", scene.worker, 3'900}).leases.size();
    });
    const bool in_time = acquired.wait_for(std::chrono::seconds{10}) == std::future_status::ready;
    CHECK(in_time);
    suspended.release();
    // The limit of jobs per acquisition.
    CHECK(acquired.get() > 500);
    pushed.get_future().wait();
}
