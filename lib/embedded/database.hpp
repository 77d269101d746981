/// @file
/// `Database`: a SQLite file that this process alone has open.

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

/// The connection to a database, which looks after its write-ahead log.
///
/// What is committed is on disk, in the log first. Whoever commits calls `checkpoint_if_due`
/// afterwards, so that the log does not grow without end.
///
/// Used by one thread at a time. Its statements must be destroyed before it is, and before
/// `reopen`.
class Database {
public:
    /// A log that grew longer is cut to this, which is more than it usually grows to: cutting and
    /// growing again each time would cost more than writing.
    static constexpr std::uint64_t log_bytes_kept = 40U << 20U;

    struct Closer {
        void operator()(sqlite3* connection) const noexcept;
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

    /// Opens or creates the file, and locks it; throws `Failure` when it cannot. Writes nothing to
    /// a file that is not empty: it may not be ours.
    explicit Database(const std::filesystem::path& file);
    ~Database();

    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    /// From now on commits go to the log. Throws `Failure`.
    void begin_log();

    // --- Statements -----------------------------------------------------------------------------

    /// Runs SQL that returns nothing.
    Result<void> run(const char* sql);
    /// The number that the SQL returns.
    Result<std::int64_t> number(const char* sql);
    [[nodiscard]] Result<Statement> prepare(const std::string& sql);
    /// `PRAGMA user_version` as stored in the file itself, whatever the log says.
    Result<std::int64_t> stored_version();
    /// Rolls a failed transaction back.
    void roll_back();
    /// SQLite's error of the last call, which failed.
    [[nodiscard]] Error error(const char* doing) const;

    // --- The log --------------------------------------------------------------------------------

    /// Copies pages from the log into the database, beside the commits unless the log is overlong.
    /// What fails is tried again at the next call: until then all is in the log.
    void checkpoint_if_due();

    /// Copies all of them, and cuts the file where its end is free. The log stays.
    Result<void> checkpoint_all();

    /// Sets the size to which a log that starts over is cut; the commit that starts it over may
    /// need more.
    Result<void> limit_log(std::uint64_t bytes);

    /// Size of the file of the log.
    [[nodiscard]] std::uint64_t log_file_bytes() const noexcept;

    /// Sets how many bytes the file may grow to; a commit beyond it fails as on a full disk.
    Result<void> limit_size(std::uint64_t bytes);

    /// Sets how many bytes may wait for a checkpoint; beyond it a commit checkpoints them.
    void limit_backlog(std::uint64_t bytes) noexcept { backlog_max_ = bytes; }

    /// Whether the disk had no space at the last checkpoint.
    [[nodiscard]] bool full() const noexcept { return full_; }
    /// Whether the last call failed because the disk has no space.
    [[nodiscard]] bool failed_for_space() const;

    /// An error when nobody would find what is written now: the file, or its log, was moved or
    /// removed.
    [[nodiscard]] Result<void> look_for_files();

    /// Leaves the log as it is when this is closed.
    void keep_log();
    /// Reverts `keep_log`.
    void empty_log_again();

    /// Whether there was a log beside the file before it was opened.
    [[nodiscard]] bool found_log() const noexcept { return found_log_; }

    /// Whether what SQLite considers written may be lost, until the file is opened again.
    [[nodiscard]] bool needs_reopen() const noexcept { return needs_reopen_; }

    /// Opens the file again. When that fails, it still needs to be reopened.
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

    std::filesystem::path path_;  // Absolute: the working directory of the process may change.
    std::optional<FileClaim> claim_;
    std::unique_ptr<sqlite3, Closer> connection_;
    std::uint64_t page_size_ = 0;
    bool needs_reopen_ = false;
    bool found_log_ = false;

    std::optional<std::pair<dev_t, ino_t>> log_identity_;

    std::uint64_t size_max_ = std::numeric_limits<std::uint64_t>::max();
    int log_pages_ = 0;
    int log_pages_home_ = 0;  // Checkpointed, as far as is known.
    std::uint64_t backlog_max_ = std::numeric_limits<std::uint64_t>::max();
    bool full_ = false;
    std::uint64_t log_ = 0;                     // Counts how often the log started over.
    std::uint64_t checkpointed_log_ = 0;        // The log of the checkpointer's last request.
    std::optional<Checkpointer> checkpointer_;  // Created when it is first needed.
};

}  // namespace routemaster::embedded
