/// @file
/// Functions for the file of an embedded store. Checks a file and exports a damaged file, while no
/// process has it open. Backs up a file, even if a process has it open.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "routemaster/result.hpp"
#include "routemaster/store/embedded.hpp"

namespace routemaster {

/// The contents of a file, as far as the file is readable.
struct EmbeddedFileReport {
    std::uint64_t rows = 0;   ///< Rows of the journal.
    std::uint64_t bytes = 0;  ///< Bytes in these rows.
    std::uint64_t topics = 0;
    std::uint64_t subscribers = 0;
    std::uint64_t tokens = 0;
    std::uint64_t batches = 0;
    std::uint64_t dead = 0;    ///< How many of the batches are DEAD.
    std::uint64_t events = 0;  ///< Events in the batches, counted once per subscriber.
    std::uint64_t jobs = 0;    ///< Includes delivery jobs.
    std::uint64_t timers = 0;
    std::uint64_t counters = 0;
    /// The damage and its place, one line each; empty if the file is intact. A very long list
    /// contains only its beginning, and the total.
    std::vector<std::string> damage;
};

/// Receives one line of JSON.
using JsonLine = std::function<void(std::string_view line)>;

/// Reads all of a file, and checks the database around it.
///
/// A commit that a crash left incomplete is not damage. `unavailable` if the file does not exist,
/// is in use by a process, or cannot be read; `corrupted` if no row can be found because of the
/// damage; `invalid` if the file is not a routemaster file. Thread safe.
[[nodiscard]] Result<EmbeddedFileReport> check_embedded_file(const std::filesystem::path& file);

/// Writes all readable data as lines of JSON. Each line is an object with one key, the kind of the
/// entry: `topic`, `subscriber`, `token`, `batch` (with its `events` as they are delivered, and
/// `died_at` and `error` if DEAD), `job`, `timer` or `counter`. Times are milliseconds since the
/// Unix epoch. Damaged rows are skipped: each entry is in the state of the last intact row, and an
/// entry that ended in a damaged row may still be listed. Errors as in `check_embedded_file`.
/// Thread safe.
[[nodiscard]] Result<EmbeddedFileReport> export_embedded_file(const std::filesystem::path& file,
                                                              const JsonLine& each);

/// Copies the file of a store to a new file, `target`, as `EmbeddedStore::backup` does. If another
/// process has the store open, this function creates the request `FILE-backup` beside the file, and
/// the owner of the store makes the copy. The owner must run as the user of the caller, or the
/// caller as root. Blocks until the copy is complete.
///
/// Errors as in `EmbeddedStore::backup` and the constructor of `EmbeddedStore`. Also `unavailable`
/// if the file does not exist, if this process has the store open, or if the owner does not reply
/// within 10 s. Thread safe.
[[nodiscard]] Result<EmbeddedBackup> backup_embedded_file(const std::filesystem::path& file,
                                                          const std::filesystem::path& target);

}  // namespace routemaster
