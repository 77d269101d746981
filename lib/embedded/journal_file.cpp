#include "journal_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>
#include <utility>

#include <libdeflate.h>
#include <sqlite3.h>

namespace routemaster::embedded {
namespace {

/// SQLite's access to files that keeps them locked against other processes, and lets connections of
/// this one share what they have to without a file (https://sqlite.org/vfs.html).
constexpr const char* one_process = "unix-excl";

/// "rmjl" as a number, in the header of the file: `file` and we ourselves tell it by that.
constexpr std::int64_t application_id = 0x726d6a6c;

constexpr std::int64_t format_version = 2;

/// Pages that are gathered in the log before they are brought to their places: 16 MiB. That is two
/// more syncs, so not too often.
constexpr int gathered_pages = 1'024;

/// As soon as all but these are in their places, a commit brings the rest, so that the log begins
/// anew: 4 MiB, which take a few milliseconds. Commits that go on would never let the log end.
constexpr int brought_by_commit = gathered_pages / 4;

/// A log that has grown this long lets no commit go on before it begins anew: 48 MiB.
constexpr int log_pages_max = 3 * gathered_pages;

/// Rows are forgotten in groups: a delete in every commit would cost as much as the insert. But no
/// commit forgets many or large ones, since each page of them has to be read: when all of the head
/// is garbage at once, nobody has to wait for that.
constexpr std::uint64_t forgotten_min = 32;
constexpr std::uint64_t forgotten_max = 1'024;
constexpr std::uint64_t forgotten_bytes_max = 256U << 10U;

/// Free pages that are kept for the rows to come: 8 MiB. Beyond it, some are given back at a time.
constexpr std::int64_t free_pages_kept = 512;
constexpr int pages_given_back_busy = 16;
constexpr int pages_given_back_idle = 128;

/// The write-ahead log is cut to this when it became longer. More than it grows to by itself: to be
/// cut and to grow again at each turn would cost more than to write.
constexpr int log_bytes_kept = 40 << 20;

/// Guards against a row that was damaged, and against one that stands in another's place.
std::int64_t checksum(std::uint64_t row, std::string_view effects) {
    std::array<unsigned char, sizeof row> number{};
    for (std::size_t i = 0; i < number.size(); ++i) {
        number[i] = static_cast<unsigned char>(row >> (8U * i));
    }
    auto sum = libdeflate_crc32(0, number.data(), number.size());
    // Given no address, which is what SQLite tells of an empty or missing value, it answers 0.
    if (!effects.empty()) sum = libdeflate_crc32(sum, effects.data(), effects.size());
    return static_cast<std::int64_t>(sum);
}

std::string_view blob(sqlite3_stmt* statement, int column) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

std::filesystem::path absolute_path(const std::filesystem::path& path) {
    std::error_code unknown;
    auto whole = absolute(path, unknown);
    return unknown ? path : whole;
}

Errc kind_of(int code) {
    switch (code & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB: return Errc::corrupted;
        default: return Errc::unavailable;
    }
}

}  // namespace

void JournalFile::Closer::operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
void JournalFile::Closer::operator()(sqlite3_stmt* statement) const noexcept {
    sqlite3_finalize(statement);
}

JournalFile::JournalFile(const std::filesystem::path& file) : path_{absolute_path(file)} { open(); }

// What the disk failed to take must stay in the log.
JournalFile::~JournalFile() { (void)wait_for_checkpointer(); }

void JournalFile::open() {
    check_size();
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(
        path_.c_str(), &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        one_process);
    database_.reset(database);
    if (code != SQLITE_OK) throw Failure{error("cannot open it")};
    sqlite3_extended_result_codes(database, 1);
    empty_log_when_closed(!suspect_);
    if (!claim_) claim_.emplace(path_);
    lock();
    check_kind();
    page_size_ = static_cast<std::uint64_t>(number("PRAGMA page_size").value());
    run("PRAGMA journal_mode=WAL").value();
    run("PRAGMA synchronous=FULL").value();
    run("PRAGMA wal_autocheckpoint=0").value();
    const auto committed = [](void* self, sqlite3*, const char*, int pages) {
        static_cast<JournalFile*>(self)->log_grew(pages);
        return SQLITE_OK;
    };
    sqlite3_wal_hook(database, committed, this);
    run(("PRAGMA journal_size_limit=" + std::to_string(log_bytes_kept)).c_str()).value();
    prepare_statements();
}

/// When the disk failed to sync what was brought to its places, Linux may drop it and say so only
/// once. It is in the log still, where SQLite finds it again if it knows nothing of its places.
Result<void> JournalFile::reopen_if_suspect() {
    if (!suspect_) return {};
    checkpointer_.reset();
    for (auto* statement : {&insert_, &sizes_, &forget_, &fetch_}) statement->reset();
    database_.reset();
    try {
        open();
    } catch (const Failure& failure) {
        return failure.error();
    }
    suspect_ = false;
    empty_log_when_closed(true);
    return {};
}

/// From now on the log must not begin anew.
void JournalFile::suspect() {
    suspect_ = true;
    empty_log_when_closed(false);
}

void JournalFile::empty_log_when_closed(bool on) {
    sqlite3_db_config(database_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, on ? 0 : 1, nullptr);
}

/// SQLite takes a file of one byte for an empty one, and would overwrite it. Only its size is asked
/// for: to open and close it here would end the locks that this process may hold on it already.
void JournalFile::check_size() {
    std::error_code missing;
    if (std::filesystem::file_size(path_, missing) == 1 && !missing) {
        throw Failure{{Errc::corrupted, path_.string() + ": cannot use it: not a database"}};
    }
}

bool JournalFile::is_empty() const {
    std::error_code missing;
    return std::filesystem::file_size(path_, missing) == 0 && !missing;
}

/// The process keeps its lock until the file is closed. Nothing is written: the file may be
/// somebody else's. How an empty one is to be laid out must be said before, since to lock it
/// settles that; of any other file it changes nothing.
void JournalFile::lock() {
    Result<void> locked;
    if (is_empty()) {
        locked = run(("PRAGMA page_size=" + std::to_string(page_size_default)).c_str());
        if (locked) locked = run("PRAGMA auto_vacuum=INCREMENTAL");
    }
    if (locked) locked = run("BEGIN EXCLUSIVE");
    if (locked) locked = run("COMMIT");
    if (locked) return;
    const int code = sqlite3_errcode(database_.get()) & 0xff;
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        throw Failure{{Errc::unavailable, path_.string() + ": in use by another process"}};
    }
    throw Failure{locked.error()};
}

void JournalFile::check_kind() {
    const auto kind = number("PRAGMA application_id");
    const auto version = number("PRAGMA user_version");
    const auto tables = number("SELECT count(*) FROM sqlite_master");
    if (!kind) throw Failure{kind.error()};
    if (!version) throw Failure{version.error()};
    if (!tables) throw Failure{tables.error()};
    if (*tables == 0 && *kind == 0) return create();
    if (*kind != application_id) {
        throw Failure{{Errc::invalid, path_.string() + ": a database, but not of routemaster"}};
    }
    if (*version > format_version) {
        throw Failure{{Errc::invalid, path_.string() + ": format " + std::to_string(*version) +
                                          " is newer than format " +
                                          std::to_string(format_version) + ", which this reads"}};
    }
    if (*version < format_version) set_version().value();
}

void JournalFile::create() {
    auto done = run("BEGIN EXCLUSIVE");
    if (done) {
        done = run(("PRAGMA application_id=" + std::to_string(application_id)).c_str());
    }
    if (done) done = set_version();
    if (done) {
        done =
            run("CREATE TABLE journal (row INTEGER PRIMARY KEY, checksum INTEGER NOT NULL,"
                " effects BLOB NOT NULL) STRICT");
    }
    if (done) {
        done = run("CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT");
    }
    if (done) done = run("COMMIT");
    if (!done) throw Failure{done.error()};
}

/// A file of an older version is one of this from now on: what is written next is.
Result<void> JournalFile::set_version() {
    return run(("PRAGMA user_version=" + std::to_string(format_version)).c_str());
}

void JournalFile::prepare_statements() {
    insert_ = prepare("INSERT INTO journal (row, checksum, effects) VALUES (?1, ?2, ?3)").value();
    sizes_ = prepare("SELECT row, length(effects) FROM journal WHERE row < ?1 ORDER BY row LIMIT " +
                     std::to_string(forgotten_max))
                 .value();
    forget_ = prepare("DELETE FROM journal WHERE row < ?1").value();
    fetch_ = prepare("SELECT checksum, effects FROM journal WHERE row = ?1").value();
}

Result<void> JournalFile::read(const Reader& each) {
    if (auto usable = reopen_if_suspect(); !usable) return usable;
    first_row_ = 1;
    last_row_ = 0;
    bytes_ = 0;
    const auto statement = prepare("SELECT row, checksum, effects FROM journal ORDER BY row");
    if (!statement) return statement.error();
    const auto& rows = *statement;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
        const auto row = static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 0));
        const auto effects = blob(rows.get(), 2);
        if (last_row_ == 0) first_row_ = row;
        const bool gap = last_row_ != 0 && row != last_row_ + 1;
        if (gap || sqlite3_column_int64(rows.get(), 1) != checksum(row, effects)) {
            return Error{Errc::corrupted, path_.string() + ": row " + std::to_string(row) +
                                              (gap ? " follows a gap" : " is damaged")};
        }
        last_row_ = row;
        bytes_ += footprint(effects.size());
        if (auto taken = each(row, effects); !taken) {
            return Error{taken.error().code(), path_.string() + ": row " + std::to_string(row) +
                                                   ": " + taken.error().context()};
        }
    }
    if (code != SQLITE_DONE) return error("cannot read it");
    return {};
}

Result<std::string> JournalFile::fetch(std::uint64_t row) {
    const std::lock_guard lock{mutex_};
    if (auto usable = reopen_if_suspect(); !usable) return usable.error();
    auto* statement = fetch_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(row));
    const int code = sqlite3_step(statement);
    const auto fetched = [&]() -> Result<std::string> {
        const auto which = path_.string() + ": row " + std::to_string(row);
        if (code == SQLITE_DONE) return Error{Errc::corrupted, which + " is missing"};
        if (code != SQLITE_ROW) return error("cannot read it");
        const auto effects = blob(statement, 1);
        if (sqlite3_column_int64(statement, 0) != checksum(row, effects)) {
            return Error{Errc::corrupted, which + " is damaged"};
        }
        return std::string{effects};
    }();
    sqlite3_reset(statement);
    return fetched;
}

std::vector<std::string> JournalFile::problems() {
    std::vector<std::string> all;
    const auto statement = prepare("PRAGMA quick_check");
    if (!statement) return {statement.error().context()};
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement->get())) == SQLITE_ROW) {
        std::string line{blob(statement->get(), 0)};
        if (line != "ok") all.push_back(std::move(line));
    }
    if (code != SQLITE_DONE) all.push_back(error("cannot check it").context());
    return all;
}

Result<JournalFile::Extent> JournalFile::extent() {
    const auto first = number("SELECT ifnull(min(row), 0) FROM journal");
    if (!first) return first.error();
    const auto last = number("SELECT ifnull(max(row), 0) FROM journal");
    if (!last) return last.error();
    return Extent{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
}

Result<void> JournalFile::append(std::string_view effects, std::uint64_t needed, bool urgent) {
    const std::lock_guard lock{mutex_};
    if (auto usable = reopen_if_suspect(); !usable) return usable;
    const auto garbage = needed - std::min(needed, first_row_);
    const bool worthwhile = garbage >= (urgent ? 1 : forgotten_min);
    auto done = worthwhile ? insert_and_forget(effects, needed) : insert(effects);
    if (!done) {
        // After most errors SQLite has rolled back by itself, and this fails harmlessly.
        sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
        return done;
    }
    ++last_row_;
    bytes_ += footprint(effects.size());
    bring_pages_home();
    return done;
}

/// Called by each commit with the pages that are in the log. Fewer than before: it began anew.
void JournalFile::log_grew(int pages) {
    if (pages < log_pages_) ++log_;
    log_pages_ = pages;
}

/// Looks after the log, beside the commits for as long as that will do. What fails is tried again
/// after the next commit: until then all is in the log.
void JournalFile::bring_pages_home() {
    if (log_pages_ < gathered_pages) return;
    const bool overlong = log_pages_ >= log_pages_max;
    if (checkpointer_ && checkpointer_->busy() && !overlong) return;
    if (!wait_for_checkpointer()) return;
    const int home = checkpointer_ && checkpointed_log_ == log_ ? *checkpointer_->pages() : 0;
    if (overlong || log_pages_ - home <= brought_by_commit || !begin_checkpoint()) {
        (void)checkpoint(SQLITE_CHECKPOINT_PASSIVE);
    }
}

/// False when there is no thread for it.
bool JournalFile::begin_checkpoint() {
    try {
        if (!checkpointer_) checkpointer_.emplace(path_, one_process);
    } catch (const std::system_error&) {
        return false;
    }
    checkpointed_log_ = log_;
    checkpointer_->begin();
    return true;
}

/// Waits until it is not busy. False when the disk failed it.
bool JournalFile::wait_for_checkpointer() {
    if (!checkpointer_) return true;
    checkpointer_->wait();
    if (checkpointer_->pages()) return true;
    suspect();
    return false;
}

Result<void> JournalFile::checkpoint(int mode) {
    const int code = sqlite3_wal_checkpoint_v2(database_.get(), nullptr, mode, nullptr, nullptr);
    if ((code & 0xff) == SQLITE_IOERR) suspect();
    if (code == SQLITE_OK) return {};
    return error("cannot write");
}

Result<void> JournalFile::insert(std::string_view effects) {
    const auto row = last_row_ + 1;
    auto* statement = insert_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(row));
    sqlite3_bind_int64(statement, 2, checksum(row, effects));
    sqlite3_bind_blob64(statement, 3, effects.data(), effects.size(), SQLITE_STATIC);
    const int code = sqlite3_step(statement);
    auto result = code == SQLITE_DONE ? Result<void>{} : Result<void>{error("cannot write")};
    sqlite3_reset(statement);
    return result;
}

Result<void> JournalFile::insert_and_forget(std::string_view effects, std::uint64_t needed) {
    if (auto done = run("BEGIN IMMEDIATE"); !done) return done;
    if (auto done = insert(effects); !done) return done;
    // More than is added, or the head would fall behind.
    const auto gone =
        head(needed, std::max<std::uint64_t>(forgotten_bytes_max, 2 * effects.size()));
    if (!gone) return gone.error();
    if (auto done = forget(gone->end); !done) return done;
    if (auto done = shrink(pages_given_back_busy); !done) return done.error();
    if (auto done = run("COMMIT"); !done) return done;
    first_row_ = gone->end;
    bytes_ -= std::min(bytes_, gone->bytes);
    return {};
}

/// At least one row, when there is one before `needed`.
Result<JournalFile::Head> JournalFile::head(std::uint64_t needed, std::uint64_t bytes_max) {
    auto* statement = sizes_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(needed));
    Head head{.end = first_row_};
    int code = SQLITE_ROW;
    while (head.bytes < bytes_max && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        head.end = static_cast<std::uint64_t>(sqlite3_column_int64(statement, 0)) + 1;
        head.bytes += footprint(static_cast<std::uint64_t>(sqlite3_column_int64(statement, 1)));
    }
    Result<Head> result{head};
    if (code != SQLITE_ROW && code != SQLITE_DONE) result = error("cannot read it");
    sqlite3_reset(statement);
    return result;
}

/// What a row takes in the file, with its share of a page that it leaves partly empty: what SQLite
/// documents as the format of a table's leaf (https://sqlite.org/fileformat2.html#b_tree_pages).
std::uint64_t JournalFile::footprint(std::uint64_t effects) const noexcept {
    constexpr std::uint64_t row_bytes = 16;  // Its number, checksum and lengths.
    const auto bytes = effects + row_bytes;
    const auto local_max = page_size_ - 35;
    if (bytes <= local_max) return page_size_ / (page_size_ / bytes);
    // The rest fills pages of its own, but for what is left over at the end of them.
    const auto local_min = (page_size_ - 12) * 32 / 255 - 23;
    const auto whole = (bytes - local_min) / (page_size_ - 4);
    const auto over = local_min + (bytes - local_min) % (page_size_ - 4);
    if (over <= local_max) return whole * page_size_ + page_size_ / (page_size_ / over);
    return (whole + 1) * page_size_ + local_min;
}

Result<void> JournalFile::forget(std::uint64_t before) {
    auto* statement = forget_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(before));
    const int code = sqlite3_step(statement);
    auto result = code == SQLITE_DONE ? Result<void>{} : Result<void>{error("cannot write")};
    sqlite3_reset(statement);
    return result;
}

/// Moves pages from the end of the file to where there is room, if there is much.
Result<bool> JournalFile::shrink(int pages) {
    const auto free = number("PRAGMA freelist_count");
    if (!free) return free.error();
    if (*free <= free_pages_kept) return false;
    auto done = run(("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")").c_str());
    if (!done) return done.error();
    shrunk_ = true;
    return true;
}

Result<bool> JournalFile::give_back() {
    const std::lock_guard lock{mutex_};
    if (auto usable = reopen_if_suspect(); !usable) return usable.error();
    auto more = shrink(pages_given_back_idle);
    if (!more || *more || !std::exchange(shrunk_, false)) return more;
    if (!wait_for_checkpointer()) {
        return Error{Errc::unavailable, path_.string() + ": cannot write: a sync failed"};
    }
    // What was given back leaves the file when all of it is written.
    if (auto done = checkpoint(SQLITE_CHECKPOINT_TRUNCATE); !done) return done.error();
    return false;
}

Result<void> JournalFile::probe() {
    const std::lock_guard lock{mutex_};
    if (auto usable = reopen_if_suspect(); !usable) return usable;
    auto done = run("INSERT OR REPLACE INTO probe (id, filler) VALUES (1, randomblob(65536))");
    if (done) done = run("DELETE FROM probe");
    return done;
}

Result<void> JournalFile::run(const char* sql) {
    if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return {};
    return error("cannot use it");
}

Result<std::int64_t> JournalFile::number(const char* sql) {
    const auto statement = prepare(sql);
    if (!statement) return statement.error();
    if (sqlite3_step(statement->get()) != SQLITE_ROW) return error("cannot read it");
    return static_cast<std::int64_t>(sqlite3_column_int64(statement->get(), 0));
}

Result<JournalFile::Statement> JournalFile::prepare(const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
        return error("cannot read it");
    }
    return Statement{statement};
}

Error JournalFile::error(const char* doing) const {
    return {kind_of(sqlite3_errcode(database_.get())),
            path_.string() + ": " + doing + ": " + sqlite3_errmsg(database_.get())};
}

}  // namespace routemaster::embedded
