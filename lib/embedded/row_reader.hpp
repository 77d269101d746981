/// @file
/// `RowReader`: reads rows of the journal while a commit is running.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "database.hpp"

namespace routemaster::embedded {

/// A second connection to the database. A commit that waits for the disk keeps the main connection
/// busy, but not this connection.
///
/// This class reports no errors. If `fetch` fails, the caller reads the row through the main
/// connection, which reports and repairs errors. This connection must be closed before the main
/// connection is closed, and opened after it.
///
/// Thread safe.
class RowReader {
public:
    /// Opens the connection. `access` is the VFS of the main connection, which must be open. After
    /// an error the reader stays closed.
    void open(const std::filesystem::path& file, const char* access);
    void close();

    /// The changes of a row that is on disk. Nothing if the row cannot be read here.
    [[nodiscard]] std::optional<std::string> fetch(std::uint64_t row);

    /// Blocks `fetch` while the returned lock lives. A checkpoint can copy the whole log only while
    /// no connection reads.
    [[nodiscard]] std::unique_lock<std::mutex> pause() { return std::unique_lock{mutex_}; }

private:
    std::mutex mutex_;  // Guards the members below.
    std::unique_ptr<sqlite3, Database::Closer> connection_;
    Database::Statement fetch_;
};

}  // namespace routemaster::embedded
