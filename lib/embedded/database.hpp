/// @file
/// `Database`: a SQLite database file that only this process may open.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "checkpointer.hpp"
#include "file_claim.hpp"
#include "routemaster/error.hpp"
#include "routemaster/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace routemaster::embedded {

/// Connection to a SQLite database, which also runs the checkpoints of SQLite's write-ahead log
/// ("the log").
///
/// A committed transaction is on disk, but at first only in the log. The caller of `run` must call
/// `checkpoint_if_due` after each commit, or the log grows without bound.
///
/// Thread safety: one thread at a time. Statements must be destroyed before the `Database`, and
/// before `reopen`.
class Database {
public:
    /// Size to which SQLite truncates a longer log. The log usually stays below this size.
    /// Truncating and growing the file again each time would cost more than the writes.
    static constexpr std::uint64_t log_bytes_kept = 40U << 20U;

    struct Closer {
        void operator()(sqlite3* connection) const noexcept;
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

    /// Opens or creates the file and locks it against other processes. Throws `Failure` on error. A
    /// file with content is not changed, because the file may belong to another program.
    explicit Database(const std::filesystem::path& file);
    ~Database();

    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// Switches the database to write-ahead logging. Throws `Failure`.
    void begin_log();

    // --- Statements -----------------------------------------------------------------------------

    Result<void> run(const char* sql);
    Result<std::int64_t> number(const char* sql);
    [[nodiscard]] Result<Statement> prepare(const std::string& sql);
    /// `PRAGMA user_version` from the database file, without changes that are only in the log.
    Result<std::int64_t> stored_version();
    void roll_back();
    /// The error of the last SQLite call, which must have failed. `doing` says what the caller
    /// tried.
    [[nodiscard]] Error error(const char* doing) const;

    // --- The write-ahead log --------------------------------------------------------------------

    /// Copies pages from the log into the database if the log has enough of them. Commits can
    /// continue meanwhile, unless the log is too long. Errors are ignored, because the pages remain
    /// in the log and the next call tries again.
    void checkpoint_if_due();

    /// Copies all pages of the log into the database. Truncates the database file if the database
    /// has become smaller. Does not remove the log file.
    Result<void> checkpoint_all();

    /// Sets the size to which SQLite truncates the log file when the next commit overwrites it from
    /// the beginning. The file is larger if that commit needs more.
    Result<void> limit_log(std::uint64_t bytes);

    /// Size of the log file in bytes; 0 if there is no log file.
    [[nodiscard]] std::uint64_t log_file_bytes() const noexcept;

    /// Sets the maximum size of the database file. A commit beyond the limit fails as on a full
    /// disk.
    Result<void> limit_size(std::uint64_t bytes);

    /// Sets how many bytes of the log may wait for a checkpoint. Beyond this limit,
    /// `checkpoint_if_due` copies pages on the calling thread, and so delays the caller.
    void limit_backlog(std::uint64_t bytes) noexcept { backlog_max_ = bytes; }

    /// Whether the last checkpoint of the calling thread failed because the disk is full. Errors of
    /// the background thread do not count.
    [[nodiscard]] bool full() const noexcept { return full_; }
    /// Whether the last call failed because the disk is full.
    [[nodiscard]] bool failed_for_space() const;

    /// Fails if the database file or its log was moved or removed, because new writes would be
    /// lost.
    [[nodiscard]] Result<void> look_for_files();

    void keep_log();
    void empty_log_again();

    [[nodiscard]] bool found_log() const noexcept { return found_log_; }

    /// Whether the disk failed. Pages that SQLite considers written may then be lost. `reopen`
    /// clears this flag.
    [[nodiscard]] bool needs_reopen() const noexcept { return needs_reopen_; }

    /// Opens the file again. After an error, `needs_reopen` remains true.
    Result<void> reopen();

    // --------------------------------------------------------------------------------------------

    [[nodiscard]] std::string name() const { return path_.string(); }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t page_size() const noexcept { return page_size_; }

private:
    void open();
    void check_file() const;
    [[nodiscard]] Error strange() const;
    [[nodiscard]] Error read_only() const;
    [[nodiscard]] Error opening_error(int reason) const;
    void look_for_log();
    [[nodiscard]] bool is_empty() const;
    void lock();
    void log_grew(int pages);
    void begin_checkpoint();
    [[nodiscard]] bool wait_for_checkpointer();
    Result<void> checkpoint();
    void require_reopen();
    void empty_log_when_closed(bool on);

    std::filesystem::path path_;  // Absolute, because the process may change its working directory.
    std::optional<FileClaim> claim_;
    std::unique_ptr<sqlite3, Closer> connection_;
    std::uint64_t page_size_ = 0;
    bool needs_reopen_ = false;
    bool found_log_ = false;

    std::optional<std::pair<dev_t, ino_t>> log_identity_;

    std::uint64_t size_max_ = std::numeric_limits<std::uint64_t>::max();
    int log_pages_ = 0;
    int log_pages_home_ = 0;  // Number of pages of the log that are known to be checkpointed.
    std::uint64_t backlog_max_ = std::numeric_limits<std::uint64_t>::max();
    bool full_ = false;
    std::uint64_t log_ = 0;               // How often the log was overwritten from its beginning.
    std::uint64_t checkpointed_log_ = 0;  // `log_` at the checkpointer's last request.
    std::optional<Checkpointer> checkpointer_;
};

}  // namespace routemaster::embedded
