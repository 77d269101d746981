/// @file
/// Gathered writes to SQLite's log. The file has the same contents as without gathering, at each
/// sync.

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <cstddef>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "disk.hpp"
#include "file_scene.hpp"

using namespace routemaster;
using namespace routemaster::test;

namespace {

/// The mark after a commit that is on disk.
constexpr std::size_t mark_bytes = 56;

/// A log file, opened as SQLite opens it for a store.
class LogFile {
public:
    explicit LogFile(const std::filesystem::path& path) : path_{path} {
        REQUIRE(vfs_ != nullptr);
        file_.resize(static_cast<std::size_t>(vfs_->szOsFile));
        constexpr int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_WAL;
        REQUIRE(vfs_->xOpen(vfs_, path_.c_str(), file(), flags, nullptr) == SQLITE_OK);
    }
    ~LogFile() { CHECK(file()->pMethods->xClose(file()) == SQLITE_OK); }
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;

    void write(const std::string& bytes, std::size_t at) {
        CHECK(file()->pMethods->xWrite(file(), bytes.data(), static_cast<int>(bytes.size()),
                                       static_cast<sqlite3_int64>(at)) == SQLITE_OK);
    }
    std::string read(std::size_t at, std::size_t size) {
        std::string bytes(size, '\0');
        CHECK(file()->pMethods->xRead(file(), bytes.data(), static_cast<int>(size),
                                      static_cast<sqlite3_int64>(at)) == SQLITE_OK);
        return bytes;
    }
    std::size_t size() {
        sqlite3_int64 bytes = 0;
        CHECK(file()->pMethods->xFileSize(file(), &bytes) == SQLITE_OK);
        return static_cast<std::size_t>(bytes);
    }
    void truncate(std::size_t size) {
        CHECK(file()->pMethods->xTruncate(file(), static_cast<sqlite3_int64>(size)) == SQLITE_OK);
    }
    void sync() { CHECK(try_to_sync()); }
    bool try_to_sync() { return file()->pMethods->xSync(file(), SQLITE_SYNC_NORMAL) == SQLITE_OK; }

    /// The bytes that another program would read.
    [[nodiscard]] std::string content() const {
        std::ifstream file{path_, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

private:
    [[nodiscard]] sqlite3_file* file() { return reinterpret_cast<sqlite3_file*>(file_.data()); }

    FileScene scene_;  // A store registers the VFS with SQLite.
    sqlite3_vfs* vfs_ = sqlite3_vfs_find("routemaster");
    std::string path_;
    std::vector<char> file_;
};

}  // namespace

TEST_CASE("the bytes of SQLite's log are equal with and without gathered writes") {
    const TemporaryFolder folder;
    std::minstd_rand random{7};
    const auto below = [&](std::size_t bound) { return random() % bound; };
    std::string expected;
    {
        LogFile log{folder.path() / "log"};
        for (int n = 0; n < 5'000; ++n) {
            const auto at = below(expected.size() + 1);
            switch (below(30)) {
                case 0: REQUIRE(log.size() == expected.size()); break;
                case 1: {
                    const auto size = below(expected.size() - at + 1);
                    REQUIRE((size == 0 || log.read(at, size) == expected.substr(at, size)));
                    break;
                }
                case 2: {
                    const std::string bytes(1 + below(50'000), static_cast<char>('A' + below(26)));
                    log.write(bytes, at);
                    expected.replace(at, bytes.size(), bytes);
                    break;
                }
                case 3:
                    log.sync();
                    REQUIRE((log.content() == expected));
                    break;
                case 4:
                    log.truncate(at);
                    expected.resize(at);
                    break;
                default: {
                    const std::string bytes(1 + below(20'000), static_cast<char>('a' + below(26)));
                    log.write(bytes, expected.size());
                    expected += bytes;
                }
            }
        }
    }
    const LogFile again{folder.path() / "log"};
    CHECK((again.content() == expected));
}

TEST_CASE("a commit reaches SQLite's log in a single write, and only at the sync of the commit") {
    const TemporaryFolder folder;
    LogFile log{folder.path() / "log"};
    log.write(std::string(24, 'h'), 0);
    log.write(std::string(16'384, 'p'), 24);
    CHECK(log.content().empty());
    log.sync();
    CHECK(log.content().size() == 16'408 + mark_bytes);
    // The next frame overwrites the mark, and a new mark follows it.
    log.write(std::string(24, 'h'), 16'408);
    log.write(std::string(16'384, 'p'), 16'432);
    log.sync();
    CHECK(log.content().size() == 2 * 16'408 + mark_bytes);
}

TEST_CASE("only synced commits are marked as complete in SQLite's log") {
    Disk disk;
    const TemporaryFolder folder;
    LogFile log{folder.path() / "log"};
    const std::string header{"\0\0\0\1\0\0\0\0saltsaltsumssums", 24};
    const std::string commit{"\0\0\0\1\0\0\0\1saltsaltsumssums", 24};
    log.write(header, 0);
    log.write(std::string(16'384, 'p'), 24);
    log.sync();
    CHECK(log.content().size() == 16'408);
    log.write(commit, 16'408);
    log.write(std::string(16'384, 'p'), 16'432);
    disk.fail_changes(2, false);
    CHECK_FALSE(log.try_to_sync());
    // A later checkpoint syncs too.
    log.sync();
    CHECK(log.content().size() == 2 * 16'408);
    log.write(commit, 2 * 16'408);
    log.write(std::string(16'384, 'p'), 2 * 16'408 + 24);
    disk.fail_changes(1, false);
    CHECK_FALSE(log.try_to_sync());
    log.sync();
    CHECK(log.content().size() < 3 * 16'408);
}
