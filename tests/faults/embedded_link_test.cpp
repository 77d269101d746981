/// @file
/// A store's file that is opened through a symbolic link, and the permissions of new files.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "file_scene.hpp"
#include "routemaster/store/embedded_file.hpp"

using namespace routemaster;
using namespace routemaster::test;
namespace fs = std::filesystem;

namespace {

/// A link to a file with a log, as a crash leaves them.
struct LinkedScene {
    LinkedScene() {
        FileScene crashed;
        crashed.subscribe("billing");
        crashed.publish("1");
        fs::create_directory(folder.path() / "disk");
        fs::copy_file(crashed.file, file);
        fs::copy_file(crashed.file.string() + "-wal", file.string() + "-wal");
        fs::create_symlink("disk/bus.db", folder.path() / "first");
        fs::create_symlink("first", link);
    }

    const TemporaryFolder folder;
    const fs::path file = folder.path() / "disk" / "bus.db";
    const fs::path link = folder.path() / "second";
};

mode_t mode_of(const fs::path& file) {
    struct stat about {};
    REQUIRE(::stat(file.c_str(), &about) == 0);
    return about.st_mode & 0777U;
}

}  // namespace

TEST_CASE("the log of a file opened through a symbolic link is in the folder of the file") {
    const LinkedScene linked;
    SUBCASE("the store opens the file") {
        FileScene scene;
        scene.close();
        scene.open_at(linked.link);
        CHECK(joined(scene.drain()) == "1");
        CHECK(fs::exists(linked.file.string() + "-wal"));
        CHECK(fs::exists(linked.file.string() + "-reserve"));
    }
    SUBCASE("the check reads the file") {
        const auto report = check_embedded_file(linked.link).value();
        CHECK(report.damage.empty());
        CHECK(report.events == 1);
    }
    SUBCASE("the backup reads the file") {
        CHECK(backup_embedded_file(linked.link, linked.folder.path() / "copy").has_value());
    }
    CHECK_FALSE(fs::exists(linked.link.string() + "-wal"));
    CHECK_FALSE(fs::exists(linked.link.string() + "-reserve"));
    CHECK_FALSE(refusal_of(linked.file));
}

TEST_CASE("a symbolic link to a missing file creates this file") {
    const LinkedScene linked;
    fs::remove(linked.file);
    fs::remove(linked.file.string() + "-wal");
    {
        FileScene scene;
        scene.close();
        scene.open_at(linked.link);
        scene.subscribe("billing");
        CHECK(fs::is_regular_file(linked.file));
        CHECK(fs::exists(linked.file.string() + "-wal"));
    }
    CHECK(fs::is_symlink(linked.link));
    CHECK_FALSE(refusal_of(linked.link));
}

TEST_CASE("symbolic links that form a loop are refused") {
    const TemporaryFolder folder;
    fs::create_symlink("b", folder.path() / "a");
    fs::create_symlink("a", folder.path() / "b");
    const auto refusal = refusal_of(folder.path() / "a");
    REQUIRE(refusal);
    CHECK(refusal->code() == Errc::unavailable);
}

TEST_CASE("only the owner can read a new file and the files next to it") {
    FileScene scene;
    scene.subscribe("billing");
    CHECK(mode_of(scene.file) == 0600);
    CHECK(mode_of(scene.file.string() + "-wal") == 0600);
    CHECK(mode_of(scene.file.string() + "-reserve") == 0600);
    const auto backup = scene.folder.path() / "backup";
    REQUIRE(scene.store->backup(backup));
    CHECK(mode_of(backup) == 0600);
    SUBCASE("an existing file keeps its mode") {
        scene.close();
        fs::permissions(scene.file, fs::perms{0640});
        scene.open();
        scene.subscribe("audit");
        CHECK(mode_of(scene.file) == 0640);
        CHECK(mode_of(scene.file.string() + "-wal") == 0640);
    }
}
