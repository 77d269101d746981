/// @file
/// Requests for backups. A process requests a backup from the process that has a journal open. The
/// request is a file beside the journal, `FILE-backup`.
///
/// The requester locks the file with flock while it waits, and writes the path of the backup and a
/// line feed into the file. The process that has the journal open polls for the file and appends
/// lines: `begun`, then `done ROWS BYTES` or `failed CODE TEXT`. A request file without a lock is
/// stale and ignored. A request file is also ignored if its owner is neither root nor the user of
/// the process that has the journal open.

#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <thread>

#include "backup.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// Server for backup requests, for a journal that this process has open.
///
/// Thread safety: one thread calls `look` and the destructor. Another thread copies, one backup at
/// a time.
class BackupRequests {
public:
    /// Makes a backup. Called on the copying thread.
    using MakeBackup =
        std::function<Result<EmbeddedBackup>(const std::filesystem::path&, const std::stop_token&)>;

    BackupRequests(const std::filesystem::path& journal, MakeBackup make, Log log);
    ~BackupRequests();

    BackupRequests(const BackupRequests&) = delete;
    BackupRequests& operator=(const BackupRequests&) = delete;

    /// Polls for a request. Starts the backup unless another backup is running.
    void look();

private:
    std::filesystem::path path_;
    MakeBackup make_;
    Log log_;
    std::atomic<bool> busy_ = false;
    std::jthread copying_;
};

/// Requests a backup from the process that has the journal `file` open, and waits for the backup to
/// end. Returns nothing if no process has the journal open. `unavailable` if that process does not
/// begin within 10 s, or if another requester is waiting already. All further errors are as of
/// `back_up`.
[[nodiscard]] std::optional<Result<EmbeddedBackup>> ask_for_backup(
    const std::filesystem::path& file, const std::filesystem::path& target);

}  // namespace routemaster::embedded
