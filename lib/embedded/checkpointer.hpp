/// @file
/// `Checkpointer`: copies pages from SQLite's write-ahead log into the database, concurrently with
/// commits.

#pragma once

#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

struct sqlite3;

namespace routemaster::embedded {

/// Background thread that checkpoints SQLite's write-ahead log ("the log"). It has its own
/// connection, and copies and syncs pages while commits continue. SQLite allows a checkpoint
/// concurrently with a writer: https://sqlite.org/wal.html#ckpt.
///
/// Thread safe. The writer's connection must be closed after the `Checkpointer` is destroyed,
/// because SQLite empties the log when the last connection closes.
class Checkpointer {
public:
    /// `access` is the name of the SQLite VFS. The writer's connection must use the same VFS.
    Checkpointer(std::filesystem::path file, const char* access);

    ~Checkpointer();

    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    /// Starts a checkpoint of all pages that are in the log now. No effect if a checkpoint is
    /// running.
    void begin();

    [[nodiscard]] bool busy() const;

    void wait() const;

    /// How many pages of the log the last checkpoint had copied into the database. Nothing if the
    /// disk failed. Pages that SQLite considers written may then be lost.
    [[nodiscard]] std::optional<int> pages() const;

private:
    struct Closer {
        void operator()(sqlite3* database) const noexcept;
    };
    using Connection = std::unique_ptr<sqlite3, Closer>;

    void work();
    [[nodiscard]] std::optional<int> checkpoint();
    [[nodiscard]] bool sync();
    [[nodiscard]] Connection open() const;

    const std::filesystem::path file_;
    const char* const access_;
    Connection database_;       // Used by the thread only. Opened on first use.
    mutable std::mutex mutex_;  // Guards the members below.
    mutable std::condition_variable changed_;
    bool busy_ = false;
    bool stopping_ = false;
    std::optional<int> pages_ = 0;
    std::thread thread_;
};

}  // namespace routemaster::embedded
