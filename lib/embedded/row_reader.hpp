/// @file
/// `RowReader`: reads journal rows while a commit is in progress.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "database.hpp"

namespace routemaster::embedded {

/// Second connection to the database, for reading. The main connection is blocked while a commit
/// waits for the disk.
///
/// This class reports no errors. If `fetch` fails, the caller reads the row through the main
/// connection, which reports and repairs errors. This connection must be opened after the main
/// connection, and closed before it.
///
/// Thread safe.
class RowReader {
public:
    /// Opens the connection. `access` is the name of the VFS of the main connection, which must be
    /// open. After an error, the reader remains closed.
    void open(const std::filesystem::path& file, const char* access);
    void close();

    /// Reads the changes in a row that is on disk. Nothing if this connection cannot read the row.
    [[nodiscard]] std::optional<std::string> fetch(std::uint64_t row);

    /// Blocks `fetch` until the returned lock is destroyed. A checkpoint can copy the whole log
    /// only while no connection reads.
    [[nodiscard]] std::unique_lock<std::mutex> pause() { return std::unique_lock{mutex_}; }

private:
    std::mutex mutex_;  // Guards the members below.
    std::unique_ptr<sqlite3, Database::Closer> connection_;
    Database::Statement fetch_;
};

}  // namespace routemaster::embedded
