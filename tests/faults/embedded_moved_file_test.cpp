/// @file
/// The file of a store is moved or removed while it is in use.

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "file_scene.hpp"
#include "support/await.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// Publishes until an event is refused. Returns the number of the last accepted event.
int publish_until_refused(FileScene& scene, int published) {
    int number = published;
    const auto refused = [&] {
        const auto outcome = scene.perform(scene.event(std::to_string(number + 1)));
        if (outcome) {
            ++number;
            return false;
        }
        CHECK(outcome.error().code() == Errc::unavailable);
        CHECK(outcome.error().context().find("was moved or removed while in use") !=
              std::string::npos);
        return true;
    };
    // A store that writes looks every half second.
    REQUIRE(await(refused, std::chrono::seconds{5}));
    return number;
}

}  // namespace

TEST_CASE("a store whose file or log is moved away refuses steps until the file is put back") {
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto elsewhere = scene.folder.path() / "elsewhere";
    fs::path moved;
    SUBCASE("the database file is moved") { moved = scene.file; }
    SUBCASE("the log is moved") { moved = scene.file.string() + "-wal"; }
    fs::rename(moved, elsewhere);
    auto published = publish_until_refused(scene, 1);
    CHECK_FALSE(scene.perform(AcquireJobs{delivery_queue, scene.worker, 1}));
    // Opening the old path is refused, because a part of the store is still there.
    CHECK(refusal_of(scene.file));
    fs::rename(elsewhere, moved);
    REQUIRE(await([&] { return scene.perform(scene.event(std::to_string(published + 1))); }));
    ++published;
    CHECK(joined(scene.drain()) == joined(numbers(1, published)));
    scene.close();
    scene.open();
    CHECK(scene.drain().empty());
}

TEST_CASE("an idle store notices that its file was moved") {
    FileScene scene;
    scene.publish("1");
    fs::rename(scene.file, scene.folder.path() / "elsewhere");
    CHECK(await([&] { return !scene.perform(AcquireJobs{"work", scene.worker, 1}); }));
}

TEST_CASE("a store whose files were removed does not touch new files at the same paths") {
    FileScene scene;
    scene.publish("1");
    for (const char* suffix : {"", "-wal"}) fs::remove(scene.file.string() + suffix);
    FileScene other;
    other.close();
    other.open_at(scene.file);
    other.subscribe("billing", 1);
    publish_until_refused(scene, 1);
    other.publish("new");
    scene.close();
    for (const char* suffix : {"-wal", "-reserve"}) {
        CHECK(fs::exists(scene.file.string() + suffix));
    }
    other.publish("newer");
    other.close();
    other.open_at(scene.file);
    CHECK(joined(other.drain()) == "new newer");
}

TEST_CASE("a database file that was moved without its log can be put together with the log again") {
    FileScene scene;
    scene.subscribe("billing", 1);
    scene.publish("1");
    const auto elsewhere = scene.folder.path() / "elsewhere";
    fs::rename(scene.file, elsewhere);
    const auto published = publish_until_refused(scene, 1);
    scene.close();
    fs::rename(elsewhere, scene.file);
    scene.open();
    CHECK(joined(scene.drain()) == joined(numbers(1, published)));
}
