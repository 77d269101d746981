/// @file
/// Tools for the file of an embedded store. Checks a file, and exports a damaged file, while no
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

/// The readable contents of a file, and its damage.
struct EmbeddedFileReport {
    std::uint64_t rows = 0;   ///< Rows of the journal.
    std::uint64_t bytes = 0;  ///< Bytes in these rows.
    std::uint64_t topics = 0;
    std::uint64_t subscribers = 0;
    std::uint64_t tokens = 0;
    std::uint64_t batches = 0;
    std::uint64_t dead = 0;    ///< Number of DEAD batches among them.
    std::uint64_t events = 0;  ///< Events in the batches, counted once per subscriber.
    std::uint64_t jobs = 0;    ///< Includes delivery jobs.
    std::uint64_t timers = 0;
    std::uint64_t counters = 0;
    /// Descriptions of damage with its location, one line each. Empty if the file is intact. If
    /// there are too many, only the first are listed, followed by the total number.
    std::vector<std::string> damage;
};

/// Callback that receives one line of JSON.
using JsonLine = std::function<void(std::string_view line)>;

/// Reads the whole file, validates all rows, and checks the SQLite database.
///
/// An incomplete commit at the end, as a crash leaves it, is not damage. `unavailable` if the file
/// does not exist, is in use by a process, or cannot be read; `corrupted` if it is too damaged to
/// find any row; `invalid` if it is not a routemaster file. Thread safe.
[[nodiscard]] Result<EmbeddedFileReport> check_embedded_file(const std::filesystem::path& file);

/// Exports all readable data as lines of JSON. Each line is an object with one key, the kind of the
/// entry: `topic`, `subscriber`, `token`, `batch` (with its `events` in the format of deliveries,
/// and `died_at` and `error` if DEAD), `job`, `timer` or `counter`. Times are milliseconds since
/// the Unix epoch. Damaged rows are skipped. Thus each entry has the state of its last intact row,
/// and an entry whose removal is in a damaged row may still be listed. Errors as in
/// `check_embedded_file`. Thread safe.
[[nodiscard]] Result<EmbeddedFileReport> export_embedded_file(const std::filesystem::path& file,
                                                              const JsonLine& each);

/// Copies the file of a store to the new file `target`, as `EmbeddedStore::backup` does. If another
/// process has the store open, this function creates the file `FILE-backup` as a request, and that
/// process makes the copy. Both processes must run as the same user, or this process as root.
/// Blocks until the copy is complete.
///
/// Errors as in `EmbeddedStore::backup` and the constructor of `EmbeddedStore`. Also `unavailable`
/// if the file does not exist, if this process has the store open, or if the process with the open
/// store does not reply within 10 s. Thread safe.
[[nodiscard]] Result<EmbeddedBackup> backup_embedded_file(const std::filesystem::path& file,
                                                          const std::filesystem::path& target);

}  // namespace routemaster
