/// @file
/// Checks the file of an embedded store while nobody uses it, exports what can be read of a damaged
/// one, and backs it up, also while another process uses it.

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

/// The contents of a file, as far as it can be read.
struct EmbeddedFileReport {
    std::uint64_t rows = 0;   ///< Of the journal.
    std::uint64_t bytes = 0;  ///< In these rows.
    std::uint64_t topics = 0;
    std::uint64_t subscribers = 0;
    std::uint64_t tokens = 0;
    std::uint64_t batches = 0;
    std::uint64_t dead = 0;    ///< Those of them that are DEAD.
    std::uint64_t events = 0;  ///< In these batches: one for each subscriber.
    std::uint64_t jobs = 0;    ///< Delivery jobs among them.
    std::uint64_t timers = 0;
    std::uint64_t counters = 0;
    /// What is wrong and where, one line each; empty when the file is intact. Of very many, the
    /// first ones, followed by their total.
    std::vector<std::string> damage;
};

/// Takes one line of JSON.
using JsonLine = std::function<void(std::string_view line)>;

/// Reads all of a file, and checks the database around it.
///
/// A commit that a crash left incomplete is no damage. `unavailable` when there is no such file, or
/// a process uses it, or it cannot be read; `corrupted` when it is so damaged that no row can be
/// found; `invalid` when it is not a routemaster file. Thread safety: any.
[[nodiscard]] Result<EmbeddedFileReport> check_embedded_file(const std::filesystem::path& file);

/// Writes everything that can be read as lines of JSON, each an object with one key, its kind:
/// `topic`, `subscriber`, `token`, `batch` with its `events` as they are delivered, and `died_at`
/// and `error` if it is DEAD, `job`, `timer`, `counter`. Times are milliseconds since the Unix
/// epoch. Damaged rows are skipped: an entry is as the intact rows left it, and one that ended in a
/// damaged row may still be listed. Errors as `check_embedded_file`. Thread safety: any.
[[nodiscard]] Result<EmbeddedFileReport> export_embedded_file(const std::filesystem::path& file,
                                                              const JsonLine& each);

/// Copies the file of a store to a new one, `target`, as `EmbeddedStore::backup` does. When another
/// process has the store open, that process makes the copy, on a request in the file `FILE-backup`
/// beside it; it must run as the same user, or the caller as root. Blocks until it is done.
///
/// Errors as `EmbeddedStore::backup` and the constructor of `EmbeddedStore`; `unavailable` also
/// when there is no such file, this process has it open, or the process that has it open does not
/// reply within 10 s. Thread safety: any.
[[nodiscard]] Result<EmbeddedBackup> backup_embedded_file(const std::filesystem::path& file,
                                                          const std::filesystem::path& target);

}  // namespace routemaster
