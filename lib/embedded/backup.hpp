/// @file
/// Copies a journal to a new file while the store continues to write the journal.

#pragma once

#include <filesystem>
#include <stop_token>

#include "journal_file.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/embedded.hpp"

namespace routemaster::embedded {

/// Copies the current rows of the journal to `TARGET.part`, syncs the copy, and renames it to
/// `target`. The target is therefore either complete or absent. If a killed process left a
/// `TARGET.part`, the backup overwrites the file. The journal is locked only while rows are read,
/// so a slow target delays no commit. The journal does not delete a row before it is copied.
///
/// Errors: `invalid` if `target` exists; `unavailable` if `target` cannot be written or another
/// process is writing it; `corrupted` if a row is damaged; `cancelled` if `stop` was requested.
/// After an error no file is left. Only one backup of a journal may run at a time.
[[nodiscard]] Result<EmbeddedBackup> back_up(JournalFile& journal,
                                             const std::filesystem::path& target,
                                             const std::stop_token& stop = {});

}  // namespace routemaster::embedded
