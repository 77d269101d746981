/// @file
/// Copies a journal, which goes on being written, to a new file.

#pragma once

#include <filesystem>
#include <stop_token>

#include "journal_file.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store/embedded.hpp"

namespace routemaster::embedded {

/// Copies all rows that stand in the journal now, and syncs the copy, before it gets its name:
/// `target` is whole or not there. It is written as `TARGET.part`; what a process that died left
/// of that is overwritten. Nothing but reading happens under the lock of the journal, so that a
/// slow target keeps no commit waiting; meanwhile the journal forgets nothing that was not copied.
///
/// `invalid` when there is something at `target`; `unavailable` when it cannot be written, or is
/// being written by somebody else; `corrupted` when a row is damaged; `cancelled` when it was asked
/// to stop. Nothing is left behind then. One at a time for each journal.
[[nodiscard]] Result<EmbeddedBackup> back_up(JournalFile& journal,
                                             const std::filesystem::path& target,
                                             const std::stop_token& stop = {});

}  // namespace routemaster::embedded
