/// @file
/// Backups of a store's file while the store is in use.

#include <doctest/doctest.h>

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "file_scene.hpp"
#include "routemaster/store/embedded_file.hpp"
#include "support/small_disk.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// The files in a folder, except the files of the scene's store.
std::vector<std::string> others_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& each : fs::directory_iterator{folder}) {
        const auto name = each.path().filename().string();
        if (!name.starts_with("bus.db")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// The messages that a copy of the store would deliver.
std::vector<std::string> drained(const fs::path& copy) {
    FileScene scene;
    scene.close();
    scene.open_at(copy);
    return scene.drain();
}

bool whole(const fs::path& copy) {
    const auto report = check_embedded_file(copy);
    return report && report->damage.empty();
}

}  // namespace

TEST_CASE("a backup has all data acknowledged before the backup, and the store stays in use") {
    FileScene scene;
    scene.subscribe("billing", 3);
    for (int n = 1; n <= 100; ++n) scene.publish(std::to_string(n));
    const auto copy = scene.folder.path() / "copy";
    const auto made = scene.store->backup(copy);
    REQUIRE(made.has_value());
    CHECK(made->rows >= 100);
    CHECK(made->bytes > 0);
    CHECK(joined(others_in(scene.folder.path())) == "copy");
    scene.publish("101");
    CHECK(whole(copy));
    CHECK(joined(drained(copy)) == joined(numbers(1, 100)));
    CHECK(joined(scene.drain()) == joined(numbers(1, 101)));
}

TEST_CASE("the backup of an empty store is an empty store") {
    FileScene scene;
    const auto copy = scene.folder.path() / "copy";
    REQUIRE(scene.store->backup(copy));
    CHECK(whole(copy));
    CHECK(drained(copy).empty());
}

TEST_CASE("a backup has the read permissions of its store") {
    FileScene scene;
    fs::permissions(scene.file, fs::perms::owner_read | fs::perms::owner_write);
    const auto copy = scene.folder.path() / "copy";
    REQUIRE(scene.store->backup(copy));
    CHECK(fs::status(copy).permissions() == fs::status(scene.file).permissions());
}

TEST_CASE("backups made at full load, while the journal deletes old rows, are consistent") {
    FileScene scene{{.slack_max = 1U << 20U}};
    scene.subscribe("billing", 1);
    std::atomic<int> acknowledged = 0;
    std::atomic<bool> ended = false;
    // Completed jobs make the journal forget rows. The events are checked.
    std::jthread churn{[&] {
        const std::string filler(2'000, 'x');
        const Uid other{2ULL << 60U, 0};
        for (int n = 0; !ended; ++n) {
            std::vector<Step> pushes;
            for (int i = 0; i < 50; ++i) {
                pushes.emplace_back(
                    PushJob{"work", std::to_string(n * 50 + i) + filler, scene.now});
            }
            (void)perform_all(*scene.store, pushes, scene.now);
            const auto acquired =
                routemaster::perform(*scene.store, AcquireJobs{"work", other, 50}, scene.now);
            for (const auto& lease : acquired.value().leases) {
                routemaster::perform(*scene.store, AckJob{lease}, scene.now).value();
            }
        }
    }};
    std::jthread publisher{[&] {
        while (!ended) {
            scene.publish(std::to_string(acknowledged + 1));
            ++acknowledged;
        }
    }};
    for (int round = 0; round < 5; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
        const auto copy = scene.folder.path() / ("copy-" + std::to_string(round));
        const int before = acknowledged;
        const auto made = scene.store->backup(copy);
        const int after = acknowledged;
        REQUIRE(made.has_value());
        CHECK(whole(copy));
        const auto delivered = drained(copy);
        CHECK(static_cast<int>(delivered.size()) >= before);
        CHECK(static_cast<int>(delivered.size()) <= after + 1);
        CHECK(joined(delivered) == joined(numbers(1, static_cast<int>(delivered.size()))));
    }
    ended = true;
}

TEST_CASE("after a backup the journal still deletes old rows") {
    FileScene scene{{.slack_max = 1U << 20U}};
    REQUIRE(scene.store->backup(scene.folder.path() / "copy"));
    const std::string filler(10'000, 'x');
    for (int n = 0; n < 3'000; ++n) {
        scene.must(scene.job(std::to_string(n) + filler));
        scene.must(AckJob{scene.must(AcquireJobs{"work", scene.worker, 1}).leases.front()});
    }
    scene.close();
    CHECK(fs::file_size(scene.file) < 20U << 20U);
}

TEST_CASE("a backup to an existing or unwritable path is refused and leaves no file behind") {
    FileScene scene;
    scene.publish("1");
    const auto refused = [&](const fs::path& target, const std::string& why, Errc code) {
        const auto made = scene.store->backup(target);
        REQUIRE_FALSE(made);
        CHECK(made.error().code() == code);
        CHECK_MESSAGE(made.error().context().find(why) != std::string::npos,
                      made.error().context());
    };
    const auto folder = scene.folder.path();
    std::ofstream{folder / "note"} << "mine";
    refused(folder / "note", "already exists", Errc::invalid);
    CHECK(fs::file_size(folder / "note") == 4);
    refused(folder, "already exists", Errc::invalid);
    refused(scene.file, "already exists", Errc::invalid);
    fs::create_symlink(folder / "nowhere", folder / "link");
    refused(folder / "link", "already exists", Errc::invalid);
    refused("", "names no file", Errc::invalid);
    refused(folder / "none" / "copy", "cannot write", Errc::unavailable);
    CHECK(joined(others_in(folder)) == "link note");
}

TEST_CASE("the partial file of a killed backup is overwritten by the next backup") {
    FileScene scene;
    scene.subscribe("billing");
    scene.publish("1");
    const auto copy = scene.folder.path() / "copy";
    for (const char* suffix : {".part", ".part-wal"}) {
        std::ofstream{copy.string() + suffix} << "half of an older one";
    }
    REQUIRE(scene.store->backup(copy));
    CHECK(joined(drained(copy)) == "1");
    CHECK(joined(others_in(scene.folder.path())) == "copy");
}

TEST_CASE("a backup to a full disk fails, and the store stays intact") {
    const SmallDisk disk{2};
    WARN_MESSAGE(disk.available(), "skipped: mounting a tmpfs is not allowed");
    if (!disk.available()) {
        CHECK_FALSE(disk.available());
        return;
    }
    FileScene scene;
    scene.subscribe("billing");
    for (int n = 0; n < 300; ++n) scene.publish(std::string(10'000, 'x'));
    const auto made = scene.store->backup(disk.path() / "copy");
    REQUIRE_FALSE(made);
    CHECK(made.error().code() == Errc::unavailable);
    CHECK(fs::is_empty(disk.path()));
    scene.publish("last");
    CHECK(scene.drain().size() == 301);
}

TEST_CASE("a store makes one backup at a time, and refuses backups on its completion thread") {
    FileScene scene;
    scene.subscribe("billing");
    for (int n = 0; n < 2'000; ++n) scene.publish(std::string(10'000, 'x'));
    const auto folder = scene.folder.path();
    std::vector<std::future<Result<EmbeddedBackup>>> all;
    for (int n = 0; n < 4; ++n) {
        all.push_back(std::async(std::launch::async, [&, n] {
            return scene.store->backup(folder / ("copy-" + std::to_string(n)));
        }));
    }
    int made = 0;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const auto outcome = all[n].get();
        const auto copy = folder / ("copy-" + std::to_string(n));
        if (outcome) {
            ++made;
            CHECK(whole(copy));
        } else {
            CHECK(outcome.error().code() == Errc::unavailable);
            CHECK_FALSE(fs::exists(copy));
        }
    }
    CHECK(made >= 1);

    std::promise<Result<EmbeddedBackup>> inside;
    routemaster::submit(*scene.store, scene.job("1"), scene.now, [&](const Result<Pushed>&) {
        inside.set_value(scene.store->backup(folder / "inside"));
    });
    const auto refused = inside.get_future().get();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid);
}

TEST_CASE("the backup of a file that no process has open includes the rows of its log") {
    FileScene scene;
    scene.subscribe("billing");
    scene.publish("1");
    const auto copy = scene.folder.path() / "copy";
    CHECK(backup_embedded_file(scene.file, copy).error().code() == Errc::unavailable);
    scene.close();
    REQUIRE(backup_embedded_file(scene.file, copy));
    CHECK(joined(drained(copy)) == "1");
    const auto missing = backup_embedded_file(scene.folder.path() / "none", copy);
    REQUIRE_FALSE(missing);
    CHECK(missing.error().context().find("there is no such file") != std::string::npos);
    CHECK_FALSE(fs::exists(scene.folder.path() / "none"));
}
