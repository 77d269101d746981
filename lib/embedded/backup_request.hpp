/// @file
/// How a process asks another, which has a journal open, for a backup of it: by a file beside the
/// journal, `FILE-backup`.
///
/// Who asks keeps the file locked (flock) for as long as it waits, and writes the path of the
/// backup and a line feed into it. Who has the journal open looks for it from time to time, and
/// appends lines: `begun`, then `done ROWS BYTES` or `failed CODE TEXT`. A file that nobody has
/// locked is left over. Nothing is done for a file of another user, unless that is root.

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

/// Answers those who ask for backups of a journal that this process has open.
///
/// `look` and the destructor are for one thread; the copying is done on another, one at a time.
class BackupRequests {
public:
    /// Makes a backup; called on the thread that copies.
    using MakeBackup =
        std::function<Result<EmbeddedBackup>(const std::filesystem::path&, const std::stop_token&)>;

    BackupRequests(const std::filesystem::path& journal, MakeBackup make, Log log);
    /// Ends the one under way, which fails then.
    ~BackupRequests();

    BackupRequests(const BackupRequests&) = delete;
    BackupRequests& operator=(const BackupRequests&) = delete;

    /// Begins the backup that somebody asks for, if one is asked for and none is under way.
    void look();

private:
    std::filesystem::path path_;
    MakeBackup make_;
    Log log_;
    std::atomic<bool> busy_ = false;
    std::jthread copying_;
};

/// Asks whoever has the journal `file` open for a backup, and waits for it. Nothing when nobody has
/// it open any more. `unavailable` when the process that has it open does not begin within 10 s,
/// or another asks already; else as `back_up`.
[[nodiscard]] std::optional<Result<EmbeddedBackup>> ask_for_backup(
    const std::filesystem::path& file, const std::filesystem::path& target);

}  // namespace routemaster::embedded
