/// @file
/// How a process asks the process that has a journal open for a backup: by a file beside the
/// journal, `FILE-backup`.
///
/// The asking process keeps the file locked (flock) while it waits, and writes the path of the
/// backup and a line feed into it. The process that has the journal open looks for the file from
/// time to time, and appends lines: `begun`, then `done ROWS BYTES` or `failed CODE TEXT`. A file
/// that nobody has locked is left over. A file of a user other than root or its own is ignored.

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

/// Answers requests for backups of a journal that this process has open.
///
/// `look` and the destructor are for one thread; the copying is done on another, one at a time.
class BackupRequests {
public:
    /// Makes a backup; called on the thread that copies.
    using MakeBackup =
        std::function<Result<EmbeddedBackup>(const std::filesystem::path&, const std::stop_token&)>;

    BackupRequests(const std::filesystem::path& journal, MakeBackup make, Log log);
    /// Cancels the backup that is under way.
    ~BackupRequests();

    BackupRequests(const BackupRequests&) = delete;
    BackupRequests& operator=(const BackupRequests&) = delete;

    /// Starts the backup that a process asks for, if one does and none is under way.
    void look();

private:
    std::filesystem::path path_;
    MakeBackup make_;
    Log log_;
    std::atomic<bool> busy_ = false;
    std::jthread copying_;
};

/// Asks the process that has the journal `file` open for a backup, and waits for it. Nothing when
/// no process has it open any more. `unavailable` when that process does not begin within 10 s, or
/// another process asks already; else as `back_up`.
[[nodiscard]] std::optional<Result<EmbeddedBackup>> ask_for_backup(
    const std::filesystem::path& file, const std::filesystem::path& target);

}  // namespace routemaster::embedded
