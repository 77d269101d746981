/// @file
/// Copies a journal to a new file while the journal is being written.

#pragma once

#include <filesystem>
#include <stop_token>

#include "journal_file.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/embedded.hpp"

namespace routemaster::embedded {

/// Copies all rows that the journal has now, and syncs the copy before renaming it to `target`:
/// that file is complete or not there. Until then it is `TARGET.part`, which overwrites one that a
/// killed process left. The journal is only locked to read from it, so a slow target delays no
/// commit; meanwhile the journal forgets no row that was not copied.
///
/// `invalid` when `target` exists; `unavailable` when it cannot be written, or another process is
/// writing it; `corrupted` when a row is damaged; `cancelled` when `stop` was requested. An error
/// leaves nothing behind. One at a time for each journal.
[[nodiscard]] Result<EmbeddedBackup> back_up(JournalFile& journal,
                                             const std::filesystem::path& target,
                                             const std::stop_token& stop = {});

}  // namespace routemaster::embedded
