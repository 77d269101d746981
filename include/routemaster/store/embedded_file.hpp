/// @file
/// Looks into the file of an embedded store while nobody uses it: whether it is whole, and what
/// can still be read of one that is not. Backs it up, also while another process uses it.

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

/// What a file holds, as far as it can be read.
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
    std::uint64_t counters = 0;
    /// What is wrong and where, one line each; empty when the file is whole. Of very many, the
    /// first ones, and the last line tells how many there are.
    std::vector<std::string> damage;
};

/// Takes one line of JSON.
using JsonLine = std::function<void(std::string_view line)>;

/// Reads a whole file, and the database around it.
///
/// What a crash leaves of a commit that was under way is normal, and no damage. `unavailable` when
/// there is no such file, or a process uses it, or it cannot be read; `corrupted` when it is so
/// damaged that no row can be found; `invalid` when it is no file of ours. Thread safety: any.
[[nodiscard]] Result<EmbeddedFileReport> check_embedded_file(const std::filesystem::path& file);

/// Tells everything that can be read as lines of JSON, each an object with one key, which says what
/// it is: `topic`, `subscriber`, `token`, `batch` with its `events` as they are delivered, and when
/// it `died_at` of which `error` if it is DEAD, `job`, `counter`. Times are milliseconds since the
/// Unix epoch. Rows that are damaged are passed over: a thing is told as it became in those that
/// are not, and one that ended in a damaged row may be told though it is gone. Errors as
/// `check_embedded_file`. Thread safety: any.
[[nodiscard]] Result<EmbeddedFileReport> export_embedded_file(const std::filesystem::path& file,
                                                              const JsonLine& each);

/// Copies the file of a store to a new one, `target`, as `EmbeddedStore::backup` does. When another
/// process has the store open, that one is asked to, by the file `FILE-backup` beside it; it must
/// run as the same user, or the caller as root. Blocks until it is done.
///
/// Errors as `EmbeddedStore::backup` and the constructor of `EmbeddedStore`; `unavailable` as well
/// when there is no such file, this process has it open, or the one that has it does not answer
/// within 10 s. Thread safety: any.
[[nodiscard]] Result<EmbeddedBackup> backup_embedded_file(const std::filesystem::path& file,
                                                          const std::filesystem::path& target);

}  // namespace routemaster
