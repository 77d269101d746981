/// @file
/// `Checkpointer`: copies pages from SQLite's write-ahead log into the database, beside the
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

/// A thread with a connection of its own, so that no commit waits while pages are copied and
/// synced. SQLite lets it run beside a writer: https://sqlite.org/wal.html#ckpt.
///
/// Thread safe. The writer's connection must be closed after it: the last one empties the log.
class Checkpointer {
public:
    /// `access` is SQLite's name for how the file is reached, which the writer must share.
    Checkpointer(std::filesystem::path file, const char* access);

    /// Waits for the checkpoint under way.
    ~Checkpointer();

    Checkpointer(const Checkpointer&) = delete;
    Checkpointer& operator=(const Checkpointer&) = delete;

    /// Starts a checkpoint of what is in the log now, unless one is under way.
    void begin();

    [[nodiscard]] bool busy() const;

    /// Waits until it is not busy.
    void wait() const;

    /// How many pages of the log the last checkpoint had copied. Nothing when the disk failed: what
    /// was written may be lost then, though SQLite considers it written.
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
    Connection database_;       // The thread's own; opened when it is first needed.
    mutable std::mutex mutex_;  // Guards the rest.
    mutable std::condition_variable changed_;
    bool busy_ = false;
    bool stopping_ = false;
    std::optional<int> pages_ = 0;
    std::thread thread_;
};

}  // namespace routemaster::embedded
