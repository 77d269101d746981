/// @file
/// A real, full disk: existing batches can be delivered, which frees space.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "embedded/journal_file.hpp"
#include "file_scene.hpp"
#include "support/await.hpp"
#include "support/small_disk.hpp"

using namespace routemaster;
using namespace routemaster::test;
using embedded::DamagedLog;
using embedded::JournalFile;
namespace fs = std::filesystem;

// A test needs the right to mount a small disk.
#define REQUIRE_A_DISK(disk)                                                          \
    do {                                                                              \
        WARN_MESSAGE((disk).available(), "skipped: mounting a tmpfs is not allowed"); \
        if (!(disk).available()) return;                                              \
    } while (false)

namespace {

/// A store on a small disk, a part of which is used by other files.
struct FillingDisk : FileScene {
    FillingDisk(int megabytes, int used, std::uint64_t reserve = EmbeddedStoreOptions{}.reserve)
        : disk{megabytes}, reserve_{reserve} {
        close();
        if (!disk.available()) return;
        disk.fill(used);
        file = disk.path() / "bus.db";
        begin();
    }
    ~FillingDisk() { close(); }

    void begin() { store.emplace(file, EmbeddedStoreOptions{.reserve = reserve_}); }

    /// Publishes events of `bytes` bytes until an event is refused.
    void publish_until_full(std::size_t bytes) {
        for (int number = published + 1;; ++number) {
            auto message = std::to_string(number);
            message.resize(std::max(bytes, message.size()), '.');
            const auto outcome = perform(event(std::move(message)));
            if (!outcome) {
                CHECK(outcome.error().code() == Errc::unavailable);
                return;
            }
            published = number;
        }
    }

    /// Performs a step, repeatedly while the store is unavailable. On a busy machine it takes long
    /// until the space of thousands of batches is free again.
    template <class S>
    typename S::Reply retried(const S& step) {
        Result<typename S::Reply> done = Error{Errc::unavailable, "not tried"};
        const auto try_it = [&] {
            done = perform(step);
            return done.has_value();
        };
        const bool in_time = await(try_it, std::chrono::seconds{90});
        if (!in_time) FAIL(S::traits.name << ": " << done.error().message());
        return *std::move(done);
    }

    /// Delivers all batches, and checks for exactly the published events, in order.
    void deliver_all() {
        while (true) {
            const auto acquired = retried(AcquireJobs{delivery_queue, worker, 1});
            if (acquired.leases.empty()) return;
            const auto& lease = acquired.leases.front();
            const auto start = retried(BeginDelivery{lease, Duration{0}});
            for (const auto message : start.messages) {
                REQUIRE(std::stoi(std::string{message}) == ++delivered);
            }
            retried(SettleDelivery{.lease = lease, .delivered = true, .begun_at = now});
        }
    }

    SmallDisk disk;
    int published = 0;
    int delivered = 0;

private:
    std::uint64_t reserve_;
};

}  // namespace

TEST_CASE(
    "a store on a full disk delivers all events without more space, and then takes events again") {
    struct Way {
        int megabytes;
        int used;
        std::size_t bytes;
        std::uint32_t max_events;
    };
    for (const auto& way : {Way{8, 0, 100, 1}, Way{8, 4, 2'000, 100}, Way{64, 10, 30'000, 1},
                            Way{64, 50, 300, 100}, Way{24, 4, 700, 10}}) {
        CAPTURE(way.megabytes);
        CAPTURE(way.bytes);
        FillingDisk shop{way.megabytes, way.used};
        REQUIRE_A_DISK(shop.disk);
        CHECK(fs::exists(shop.file.string() + "-reserve"));
        shop.subscribe("billing", way.max_events);
        for (int round = 0; round < 2; ++round) {
            CAPTURE(round);
            // The store may still be freeing the space of delivered events.
            const auto before = shop.published;
            CHECK(await([&] {
                shop.publish_until_full(way.bytes);
                return shop.published > before + 20;
            }));
            if (round == 1) {
                // As after a kill, except for the space of the file, which other programs could
                // have taken meanwhile.
                shop.close();
                shop.begin();
            }
            shop.deliver_all();
            CHECK(shop.delivered == shop.published);
            const auto outcome = shop.retried(shop.event(std::to_string(shop.published + 1)));
            CHECK(outcome == Done{});
            ++shop.published;
            CHECK(fs::exists(shop.file.string() + "-reserve"));
        }
        shop.deliver_all();
        CHECK(shop.delivered == shop.published);
    }
}

TEST_CASE("a store is no longer full when free disk space and the log's space together suffice") {
    constexpr std::uint64_t reserve = 4U << 20U;
    const SmallDisk disk{48};
    REQUIRE_A_DISK(disk);
    const auto file = disk.path() / "bus.db";
    JournalFile journal{file, DamagedLog::refused, reserve};
    journal.begin().value();
    const std::string changes(4'000, 'x');
    disk.fill_up();
    while (journal.append(changes, 0, false)) continue;
    REQUIRE(journal.probe());
    REQUIRE(journal.full());
    for (int i = 0; i < 60; ++i) journal.append(changes, 0, false).value();
    const auto log = fs::file_size(file.string() + "-wal");
    REQUIRE(log > 600U << 10U);
    // Leaves so much free space that half of the log is missing.
    const auto wanted = reserve + reserve / 2 - log / 2;
    disk.make_space();
    const auto rest = fs::space(disk.path()).available - wanted;
    std::ofstream{disk.path() / "others"} << std::string(rest, 'x');
    REQUIRE(fs::space(disk.path()).available < reserve + reserve / 2);
    CHECK(journal.take_reserve(1));
    CHECK_FALSE(journal.full());
    CHECK(fs::file_size(file.string() + "-wal") < log / 2);
}

TEST_CASE("while the disk is full, steps that add data are refused, and all other steps are done") {
    FillingDisk shop{8, 0};
    REQUIRE_A_DISK(shop.disk);
    shop.subscribe("billing", 1);
    shop.must(shop.job("a"));
    const auto lease = shop.must(AcquireJobs{"work", shop.worker, 1}).leases.at(0);
    shop.disk.fill_up();
    shop.publish_until_full(1'000);
    CHECK(shop.retried(AckJob{lease}) == Settlement::settled);
    // Also fills the space of the former reserve. Otherwise the disk may have space again when the
    // log is truncated.
    shop.disk.fill_up();
    shop.publish_until_full(1'000);
    for (int twice = 0; twice < 2; ++twice) {
        CHECK(shop.perform(shop.event("x")).error().context() == "the disk is full");
        CHECK(shop.perform(shop.job("b")).error().code() == Errc::unavailable);
        CHECK(shop.perform(PutToken{"t", "shop"}).error().code() == Errc::unavailable);
        CHECK(shop.perform(Subscribe{"audit", {"orders"}, {}}).error().code() == Errc::unavailable);
        CHECK(shop.must(CountJobs{"work"}) == QueueStatus{});
    }
    CHECK_FALSE(fs::exists(shop.file.string() + "-reserve"));
    shop.disk.make_space();
    shop.deliver_all();
    CHECK(shop.delivered == shop.published);
}

TEST_CASE("a store without a reserve file refuses all changes until there is disk space") {
    FillingDisk shop{8, 0, 0};
    REQUIRE_A_DISK(shop.disk);
    CHECK_FALSE(fs::exists(shop.file.string() + "-reserve"));
    shop.subscribe("billing", 1);
    shop.disk.fill_up();
    shop.publish_until_full(1'000);
    shop.disk.make_space();
    shop.deliver_all();
    CHECK(shop.delivered == shop.published);
}

TEST_CASE(
    "the reserve file is removed when the store is closed, and an old reserve file is reused") {
    FileScene scene;
    const auto reserve = scene.file.string() + "-reserve";
    CHECK(fs::file_size(reserve) == EmbeddedStoreOptions{}.reserve);
    scene.close();
    CHECK_FALSE(fs::exists(reserve));
    { std::ofstream{reserve} << "left by a process that was killed"; }
    scene.open();
    CHECK(fs::file_size(reserve) == EmbeddedStoreOptions{}.reserve);
    scene.close();
    CHECK_FALSE(fs::exists(reserve));
}
