/// @file
/// Reads rows of the journal while others are being written.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "database.hpp"

namespace routemaster::embedded {

/// A connection of its own to the database: a commit that waits for the disk keeps the other one
/// busy, and this one not.
///
/// Whatever keeps it from reading, a disk that fails among it, is left to the other connection to
/// find out and to mend: this one is closed before that one is, and opened after it.
///
/// Thread safety: all members may be called from any thread.
class RowReader {
public:
    /// Begins to read; `access` is the VFS of the other connection, which has the file open. What
    /// fails leaves it closed.
    void open(const std::filesystem::path& file, const char* access);
    void close();

    /// The changes of one row that is on disk; nothing when it cannot be read here.
    [[nodiscard]] std::optional<std::string> fetch(std::uint64_t row);

    /// Keeps it from reading for as long as that lives: the log can only be brought home as a whole
    /// while nobody reads it.
    [[nodiscard]] std::unique_lock<std::mutex> pause() { return std::unique_lock{mutex_}; }

private:
    std::mutex mutex_;  // Guards the rest.
    std::unique_ptr<sqlite3, Database::Closer> connection_;
    Database::Statement fetch_;
};

}  // namespace routemaster::embedded
