#include "database.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include <sqlite3.h>

#include "coalescing_vfs.hpp"
#include "core/system/file_descriptor.hpp"
#include "real_path.hpp"
#include "write_ahead_log.hpp"

namespace routemaster::embedded {
namespace {

using detail::FileDescriptor;

/// Page size of a new file, in bytes. It is large because a journal row takes many pages, and each
/// page costs one or two system calls to write, to read and to delete.
constexpr int page_size_default = 16 << 10;

/// Number of pages copied by one checkpoint: 1.5 MiB. A larger checkpoint delays concurrent commits
/// for longer. With 16 MiB, the p99 latency of a push was five times as high.
constexpr int brought_at_a_time = 96;

/// Log length (16 MiB) at which a commit helps the background thread. SQLite overwrites the log
/// from its beginning once all its pages are checkpointed. Under a steady load, the background
/// thread alone never gets so far. Therefore a commit at this length checkpoints the last pages
/// itself, which takes about 1 ms.
constexpr int gathered_pages = 1'024;
constexpr int brought_by_commit = 256;

/// Log length (48 MiB) at which a commit checkpoints all pages of the log itself.
constexpr int log_pages_max = 3 * gathered_pages;

/// Creates a missing file. Only its owner may read the file, because API tokens are secret. SQLite
/// creates the log with the permissions of the database file. Returns `errno`, or 0. `errno` is
/// more precise than the error of SQLite: SQLite reports a folder without write permission as a
/// missing file.
int make_private(const std::filesystem::path& path) {
    const FileDescriptor made{
        ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR)};
    return made || errno == EEXIST ? 0 : errno;
}

Error moved(const std::string& file) {
    return {Errc::unavailable, file + ": was moved or removed while in use; put it back"};
}

Errc kind_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return Errc::corrupted;
        default: return Errc::unavailable;
    }
}

}  // namespace

void Database::Closer::operator()(sqlite3* connection) const noexcept { sqlite3_close(connection); }
void Database::Closer::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

// --- Opening ------------------------------------------------------------------------------------

Database::Database(const std::filesystem::path& file) : path_{real_path(file)} { open(); }

// Waits for the checkpoint in progress. If it failed, SQLite must not empty the log, which then has
// the only copies of some pages.
Database::~Database() { (void)wait_for_checkpointer(); }

void Database::open() {
    // If the file was moved, SQLite would create an empty one in its place.
    if (claim_ && !claim_->stands_at(path_)) throw Failure{moved(name())};
    check_file();
    look_for_log();
    if (const int reason = make_private(path_); reason != 0) throw Failure{opening_error(reason)};
    sqlite3* connection = nullptr;
    const int code = sqlite3_open_v2(
        path_.c_str(), &connection,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, coalescing_vfs());
    connection_.reset(connection);
    if (code != SQLITE_OK) throw Failure{opening_error(sqlite3_system_errno(connection))};
    // If the system refuses write access, SQLite silently opens the file read-only. Such a file is
    // rejected.
    if (sqlite3_db_readonly(connection, "main") == 1) throw Failure{read_only()};
    sqlite3_extended_result_codes(connection, 1);
    empty_log_when_closed(!found_log_);
    if (!claim_) claim_.emplace(path_);
    lock();
    page_size_ = static_cast<std::uint64_t>(number("PRAGMA page_size").value());
}

/// Rejects folders and files of one byte. SQLite would consider a file of one byte empty, and
/// overwrite the file. The function only calls `stat`, because opening and closing the file would
/// release locks of this process.
void Database::check_file() const {
    std::error_code missing;
    if (std::filesystem::is_directory(path_, missing)) {
        throw Failure{{Errc::invalid, name() + ": is a folder; name a file in it"}};
    }
    if (std::filesystem::file_size(path_, missing) == 1 && !missing) throw Failure{strange()};
}

/// The error for a file that does not begin like a routemaster file. The error also mentions that
/// the file may be a routemaster file with a damaged beginning.
Error Database::strange() const {
    return {Errc::invalid, name() + ": is not a routemaster file, or its beginning is damaged"};
}

Error Database::opening_error(int reason) const {
    if (reason == 0) return error("cannot open it");
    return {Errc::unavailable,
            name() + ": cannot open it: " + std::generic_category().message(reason)};
}

Error Database::read_only() const {
    return {Errc::unavailable,
            name() + ": cannot be written; see its mode, its owner and its mount"};
}

/// Throws if the database file is missing or empty, but a log exists. SQLite would delete the log,
/// although it may contain the only remaining data of a database file that was moved.
void Database::look_for_log() {
    std::error_code missing;
    found_log_ = WriteAheadLog::present(path_);
    if (!found_log_ || (std::filesystem::file_size(path_, missing) > 0 && !missing)) return;
    const auto log = WriteAheadLog::path_of(path_).string();
    throw Failure{
        {Errc::corrupted,
         name() + ": the file is missing or empty, but its write-ahead log exists: " + log}};
}

bool Database::is_empty() const {
    std::error_code missing;
    return std::filesystem::file_size(path_, missing) == 0 && !missing;
}

/// Locks the file until it is closed. The lock writes to an empty file, which fixes its page
/// layout, so the layout is set first. The PRAGMAs have no effect on a file that is not empty.
void Database::lock() {
    Result<void> locked;
    if (is_empty()) {
        locked = run(("PRAGMA page_size=" + std::to_string(page_size_default)).c_str());
        if (locked) locked = run("PRAGMA auto_vacuum=INCREMENTAL");
    }
    if (locked) locked = run("BEGIN EXCLUSIVE");
    if (locked) locked = run("COMMIT");
    if (locked) return;
    const int code = sqlite3_errcode(connection_.get()) & 0xff;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        throw Failure{{Errc::unavailable, name() + ": in use by another process"}};
    }
    if (code == SQLITE_NOTADB) throw Failure{strange()};
    throw Failure{locked.error()};
}

void Database::begin_log() {
    empty_log_when_closed(!needs_reopen_);
    run("PRAGMA journal_mode=WAL").value();
    run("PRAGMA synchronous=FULL").value();
    run("PRAGMA wal_autocheckpoint=0").value();
    // Debian's SQLite overwrites deleted pages with zeros by default, which would write each
    // deleted page to the log.
    run("PRAGMA secure_delete=OFF").value();
    const auto committed = [](void* self, sqlite3*, const char*, int pages) {
        static_cast<Database*>(self)->log_grew(pages);
        return SQLITE_OK;
    };
    sqlite3_wal_hook(connection_.get(), committed, this);
    limit_log(log_bytes_kept).value();
    limit_size(size_max_).value();
}

/// Opens the file again after a disk error. When a sync of checkpointed pages fails, Linux may
/// discard the pages and report the error only once. The log still contains these pages, and SQLite
/// reads them from the log after reopening.
Result<void> Database::reopen() {
    checkpointer_.reset();
    connection_.reset();
    try {
        open();
        begin_log();
    } catch (const Failure& failure) {
        return failure.error();
    }
    needs_reopen_ = false;
    empty_log_when_closed(true);
    return {};
}

// --- Statements ---------------------------------------------------------------------------------

Result<void> Database::run(const char* sql) {
    if (sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return error("cannot use it");
}

Result<std::int64_t> Database::number(const char* sql) {
    const auto statement = prepare(sql);
    if (!statement) return statement.error();
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return error("cannot read it");
    return static_cast<std::int64_t>(sqlite3_column_int64(statement->get(), 0));
}

Result<Database::Statement> Database::prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
        return error("cannot read it");
    }
    return Statement{statement};
}

Result<std::int64_t> Database::stored_version() {
    constexpr sqlite3_int64 place_of_version = 60;
    std::array<unsigned char, 4> bytes{};
    // Reads through SQLite's descriptor, because closing another descriptor of the file would
    // release the locks of this process.
    sqlite3_file* file = nullptr;
    sqlite3_file_control(connection_.get(), nullptr, SQLITE_FCNTL_FILE_POINTER, &file);
    if (file->pMethods->xRead(file, bytes.data(), bytes.size(), place_of_version) != SQLITE_OK) {
        return Error{Errc::unavailable, name() + ": cannot read it"};
    }
    std::uint32_t version = 0;
    for (const auto byte : bytes) version = version << 8U | byte;
    return static_cast<std::int64_t>(static_cast<std::int32_t>(version));
}

void Database::roll_back() {
    // After most errors, SQLite has already rolled back. The ROLLBACK then fails without harm.
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

Error Database::error(const char* doing) const {
    return {kind_of(sqlite3_errcode(connection_.get())),
            name() + ": " + doing + ": " + sqlite3_errmsg(connection_.get())};
}

// --- The write-ahead log ------------------------------------------------------------------------

/// Called after each commit with the number of pages in the log. If the number is smaller than
/// before, SQLite has begun to overwrite the log from its beginning.
void Database::log_grew(int pages) {
    if (pages < log_pages_) {
        ++log_;
        log_pages_home_ = 0;
    }
    log_pages_ = pages;
}

void Database::checkpoint_if_due() {
    const auto backlog = [this] {
        return static_cast<std::uint64_t>(log_pages_ - log_pages_home_) * page_size_;
    };
    if (log_pages_ < brought_at_a_time && backlog() < backlog_max_) return;
    const bool log_full = log_pages_ >= log_pages_max || backlog() >= backlog_max_;
    if (checkpointer_ && checkpointer_->busy() && !log_full) return;
    if (!wait_for_checkpointer()) return;
    if (checkpointer_ && checkpointed_log_ == log_) log_pages_home_ = *checkpointer_->pages();
    const int left = log_pages_ - log_pages_home_;
    const bool overlong = log_pages_ >= log_pages_max || backlog() >= backlog_max_;
    const bool full = log_pages_ >= gathered_pages;
    if (overlong || (full && left <= brought_by_commit)) {
        (void)checkpoint();
    } else if (full || left >= brought_at_a_time) {
        begin_checkpoint();
    }
}

void Database::begin_checkpoint() {
    try {
        if (!checkpointer_) checkpointer_.emplace(path_, coalescing_vfs());
    } catch (const std::system_error&) {
        // The thread could not be started. A later commit checkpoints, when the log is too long.
        return;
    }
    checkpointed_log_ = log_;
    checkpointer_->begin();
}

/// Waits for the background checkpoint to end. False if the disk failed.
bool Database::wait_for_checkpointer() {
    if (!checkpointer_) return true;
    checkpointer_->wait();
    if (checkpointer_->pages()) return true;
    require_reopen();
    return false;
}

Result<void> Database::checkpoint_all() {
    if (wait_for_checkpointer()) return checkpoint();
    return Error{Errc::unavailable, name() + ": cannot write: a sync failed"};
}

bool Database::failed_for_space() const {
    return (sqlite3_errcode(connection_.get()) & 0xff) == SQLITE_FULL ||
           sqlite3_system_errno(connection_.get()) == EDQUOT ||
           sqlite3_system_errno(connection_.get()) == EFBIG;
}

Result<void> Database::look_for_files() {
    const auto log = WriteAheadLog::path_of(path_);
    struct stat about {};
    const bool found = stat(log.c_str(), &about) == 0;
    const auto identity = std::pair{about.st_dev, about.st_ino};
    if (!log_identity_ && found) log_identity_ = identity;
    if (!claim_->stands_at(path_)) return moved(name());
    if (found && *log_identity_ == identity) return {};
    return moved(log.string());
}

Result<void> Database::limit_log(std::uint64_t bytes) {
    return run(("PRAGMA journal_size_limit=" + std::to_string(bytes)).c_str());
}

/// Sets the size limit in SQLite. SQLite forgets the limit when the file is closed. The limit does
/// not truncate a larger file.
Result<void> Database::limit_size(std::uint64_t bytes) {
    constexpr std::uint64_t pages_max = 0xfffffffe;
    size_max_ = bytes;
    const auto pages = std::clamp<std::uint64_t>(bytes / page_size_, 1, pages_max);
    return run(("PRAGMA max_page_count=" + std::to_string(pages)).c_str());
}

std::uint64_t Database::log_file_bytes() const noexcept {
    struct stat about {};
    if (stat(WriteAheadLog::path_of(path_).c_str(), &about) != 0) return 0;
    return static_cast<std::uint64_t>(about.st_size);
}

void Database::keep_log() { empty_log_when_closed(false); }
void Database::empty_log_again() { empty_log_when_closed(!needs_reopen_); }

/// Copies all pages of the log into the database. No other connection may read or write the log
/// meanwhile.
Result<void> Database::checkpoint() {
    int pages = 0;
    int home = 0;
    const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr,
                                               SQLITE_CHECKPOINT_PASSIVE, &pages, &home);
    full_ = code != SQLITE_OK && failed_for_space();
    if ((code & 0xff) == SQLITE_IOERR) require_reopen();
    if (code != SQLITE_OK) return error("cannot write");
    log_pages_home_ = home;
    if (home == pages) return {};
    return Error{Errc::unavailable, name() + ": cannot write: its write-ahead log is in use"};
}

/// Marks the database for reopening. SQLite must not empty the log on close, because the log may
/// have the only copies of some pages.
void Database::require_reopen() {
    needs_reopen_ = true;
    empty_log_when_closed(false);
}

void Database::empty_log_when_closed(bool on) {
    sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, nullptr);
}

}  // namespace routemaster::embedded
