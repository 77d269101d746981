#include "journal_file.hpp"

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include <sqlite3.h>

#include "coalescing_vfs.hpp"
#include "core/state/machine.hpp"
#include "file_size_limit.hpp"
#include "log_copy.hpp"
#include "row_checksum.hpp"
#include "write_ahead_log.hpp"

namespace routemaster::embedded {
namespace {

/// The application id in the header of a routemaster file: "rmjl" as a number.
constexpr std::int64_t application_id = 0x726d6a6c;

/// The file format of jobs, batches, counters and timers.
constexpr std::int64_t own_format = 11;

/// The newest file format that any kind of named entity requires.
template <class... State>
constexpr std::int64_t newest_format(const std::tuple<detail::NamedTable<State>&...>*) {
    return std::max({own_format, std::int64_t{State::record.format}...});
}

constexpr std::int64_t format_version =
    newest_format(static_cast<const detail::NamedTables*>(nullptr));

/// Flag in the version number: the file has a write-ahead log.
constexpr std::int64_t log_belongs = 1 << 16;
constexpr std::int64_t log_noted = format_version | log_belongs;

/// Limits for the rows deleted by a commit. Rows are deleted in groups, because a deletion in every
/// commit would cost as much as the insertion. Number and size are limited, because SQLite reads
/// each deleted page. Otherwise a commit would take long after a large part of the journal became
/// garbage.
constexpr std::uint64_t forgotten_min = 32;
constexpr std::uint64_t forgotten_max = 1'024;
constexpr std::uint64_t forgotten_bytes_max = 256U << 10U;

/// How many free pages the file retains for new rows: 8 MiB. Further free pages are returned to the
/// disk, a few at a time.
constexpr std::int64_t free_pages_kept_max = 512;
constexpr int pages_returned_busy = 16;
constexpr int pages_returned_idle = 128;

std::string_view blob(sqlite3_stmt* statement, int column) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))};
}

}  // namespace

JournalFile::JournalFile(const std::filesystem::path& file, DamagedLog log, std::uint64_t reserve,
                         const Log& logger)
    : database_{file}, damaged_log_{log}, reserve_{database_.path(), reserve} {
    check_kind();
    damage_ = damage_of_log().value();
    if (damage_ && damaged_log_ == DamagedLog::refused) throw Failure{damaged()};
    database_.begin_log();
    if (damage_) database_.keep_log();
    prepare_statements().value();
    if (damage_ && damaged_log_ == DamagedLog::accepted) accept_damage(logger);
}

JournalFile::~JournalFile() { note_no_log(); }

/// Must be called before every use of the database. After a disk error, reopens the database to
/// recover pages from the log.
Result<void> JournalFile::mend() {
    if (database_.needs_reopen()) {
        reset_statements();
        reader_.close();
        if (auto opened = database_.reopen(); !opened) return opened;
        auto damage = damage_of_log();
        if (!damage) return damage.error();
        damage_ = *std::move(damage);
    }
    if (damage_ && damaged_log_ != DamagedLog::reported) return damaged();
    if (fetch_) return {};
    return prepare_statements();
}

void JournalFile::reset_statements() {
    for (auto* statement : {&insert_, &sizes_, &forget_, &fetch_}) statement->reset();
}

void JournalFile::check_kind() {
    const auto kind = database_.number("PRAGMA application_id");
    const auto version = database_.number("PRAGMA user_version");
    const auto tables = database_.number("SELECT count(*) FROM sqlite_master");
    if (!kind) throw Failure{kind.error()};
    if (!version) throw Failure{version.error()};
    if (!tables) throw Failure{tables.error()};
    if (*tables == 0 && *kind == 0) return create();
    if (*kind != application_id) {
        throw Failure{
            {Errc::invalid, database_.name() + ": is an SQLite database, but not of routemaster"}};
    }
    if (const auto format = *version & ~log_belongs; format > format_version) {
        throw Failure{{Errc::invalid, database_.name() + ": format " + std::to_string(format) +
                                          " is newer than format " +
                                          std::to_string(format_version) +
                                          ", the newest that this version reads"}};
    }
}

void JournalFile::create() {
    auto done = database_.run("BEGIN EXCLUSIVE");
    if (done) {
        done = database_.run(("PRAGMA application_id=" + std::to_string(application_id)).c_str());
    }
    if (done) done = set_version(format_version);
    if (done) {
        done = database_.run(
            "CREATE TABLE journal (row INTEGER PRIMARY KEY, checksum INTEGER NOT NULL,"
            " effects BLOB NOT NULL) STRICT");
    }
    if (done) {
        done = database_.run(
            "CREATE TABLE probe (id INTEGER PRIMARY KEY, filler BLOB NOT NULL) STRICT");
    }
    if (done) done = database_.run("COMMIT");
    if (!done) throw Failure{done.error()};
}

Result<void> JournalFile::set_version(std::int64_t version) {
    return database_.run(("PRAGMA user_version=" + std::to_string(version)).c_str());
}

// --- SQLite's write-ahead log -------------------------------------------------------------------

Result<std::optional<std::string>> JournalFile::damage_of_log() {
    if (database_.found_log()) {
        const auto rows = extent();
        if (!rows) return rows.error();
        return WriteAheadLog{database_.path()}.damage(rows->last);
    }
    const auto stored = database_.stored_version();
    if (!stored) return stored.error();
    if ((*stored & log_belongs) == 0) return std::optional<std::string>{};
    return std::optional{"its write-ahead log is missing or truncated: " +
                         WriteAheadLog::path_of(database_.path()).string()};
}

Error JournalFile::damaged() const {
    return {Errc::corrupted,
            database_.name() + ": " + *damage_ +
                ": acknowledged events are missing; `routemaster export` saves the readable data, "
                "and accept_damage=1 opens the file without the missing events"};
}

/// Sets the flag for the log, before the first row is written to the log. Also converts a file of
/// an older format to the current format.
Result<void> JournalFile::note_log() {
    const auto stored = database_.stored_version();
    if (!stored) return stored.error();
    const auto version = database_.number("PRAGMA user_version");
    if (!version) return version.error();
    if (*stored != log_noted || *version != log_noted) {
        const auto paused = reader_.pause();
        if (auto done = set_version(log_noted); !done) return done;
        if (auto done = database_.checkpoint_all(); !done) return done;
    }
    log_noted_ = true;
    return {};
}

/// Clears the flag for the log when the database is closed. SQLite writes the cleared flag to the
/// file together with the last rows. If this fails, the log file must not be removed.
void JournalFile::note_no_log() {
    if (damage_) return;
    // The journal was moved, and another file may be at its path. The log and the reserve at this
    // path are therefore not changed.
    if (!database_.look_for_files()) {
        reserve_.leave();
        return database_.keep_log();
    }
    const auto stored = database_.stored_version();
    if (stored && (*stored & log_belongs) == 0 && !log_noted_) return;
    reset_statements();
    reader_.close();
    if (!stored || unreadable_ || database_.needs_reopen() || !set_version(format_version)) {
        database_.keep_log();
    }
}

/// Checkpoints the log and truncates it. While the flag for the log is set, an empty log would look
/// like a lost log. A small commit therefore follows, which begins the log again.
Result<void> JournalFile::cut_log() {
    const auto paused = reader_.pause();
    if (auto done = database_.checkpoint_all(); !done) return done;
    auto done = database_.limit_log(0);
    if (done) done = set_version(log_noted);
    const auto reset = database_.limit_log(Database::log_bytes_kept);
    return done ? reset : done;
}

/// Accepts the loss of rows. Makes SQLite overwrite the log from its beginning, so that no frame
/// behind the damage can become valid again.
void JournalFile::accept_damage(const Log& logger) {
    auto what = database_.name() + ": " + *std::exchange(damage_, std::nullopt) +
                ": acknowledged events are lost";
    if (database_.found_log()) {
        what += "; the damaged log is kept as " +
                copy_damaged_log(WriteAheadLog::path_of(database_.path())).string();
    }
    read([](std::uint64_t, std::string_view) { return Result<void>{}; }).value();
    unreadable_ = true;  // Reset when the log was truncated.
    cut_log().value();
    unreadable_ = false;
    database_.empty_log_again();
    if (logger) logger(LogLevel::warning, what);
}

Result<void> JournalFile::make_ready() {
    if (auto usable = mend(); !usable || log_noted_) return usable;
    auto noted = note_log();
    if (noted || !database_.needs_reopen()) return noted;
    // Reopens the database, because pages that could not be written to it are still in the log.
    if (auto usable = mend(); !usable) return usable;
    return note_log();
}

Result<void> JournalFile::begin() {
    const std::lock_guard lock{mutex_};
    if (reserve_.bytes() == 0) {
        (void)database_.limit_size(file_size_limit());
    } else if (reserve_.take()) {
        keep_reserve();
    } else {
        run_full();
    }
    return make_ready();
}

Result<void> JournalFile::look_for_files() { return database_.look_for_files(); }

// --- A full disk --------------------------------------------------------------------------------

/// Sets the limits for the time while the reserve is allocated. `ulimit -f` limits the size of each
/// file. The limit of the journal file is lowered by the size of the reserve, and raised again when
/// the disk is full.
void JournalFile::keep_reserve() {
    database_.limit_backlog(reserve_.bytes() / 4 * 3);
    (void)database_.limit_size(file_size_limit() - reserve_.bytes());
}

/// Releases the reserve when the disk is full. The log and the database file may then grow only
/// within the released space, so the backlog of the log is limited.
void JournalFile::run_full() {
    reserve_.release();
    database_.limit_backlog(reserve_.bytes() / 4);
    (void)database_.limit_size(file_size_limit());
    full_ = true;
    may_shrink_ = true;
}

/// Whether the disk and the free pages in the file, up to the size limit of the file, have enough
/// space. Requires more than the reserve, because the disk would otherwise be full again at once.
bool JournalFile::has_space(std::uint64_t halves, std::uint64_t further) {
    const auto pages = database_.number("PRAGMA freelist_count");
    const auto inside =
        pages ? static_cast<std::uint64_t>(*pages) * database_.page_size() : std::uint64_t{0};
    const auto size = database_.number("PRAGMA page_count");
    const auto taken =
        size ? static_cast<std::uint64_t>(*size) * database_.page_size() : std::uint64_t{0};
    const auto growth = file_size_limit() - std::min(taken, file_size_limit());
    const auto outside = std::min(reserve_.free_bytes() + further, growth);
    if (outside < reserve_.bytes()) return false;
    return outside - reserve_.bytes() + inside >= reserve_.bytes() / 2 * halves;
}

/// Allocates the reserve. If the disk needs the space of the log for this, truncates the log first.
/// Otherwise only a commit would truncate the log. If all events are delivered, the store makes no
/// commit while it rejects new events, and would reject new events for ever.
bool JournalFile::take_reserve(std::uint64_t halves) {
    const std::lock_guard lock{mutex_};
    if (!mend()) return false;
    if (!has_space(halves)) {
        const bool would_do = log_noted_ && has_space(halves, database_.log_file_bytes());
        if (!would_do || !cut_log() || !has_space(halves)) return false;
    }
    if (!reserve_.take()) return false;
    keep_reserve();
    full_ = false;
    return true;
}

std::int64_t JournalFile::free_pages_kept() const noexcept {
    if (!full_) return free_pages_kept_max;
    return static_cast<std::int64_t>(reserve_.bytes() / 8 / database_.page_size());
}

// --- Rows ---------------------------------------------------------------------------------------

Result<void> JournalFile::prepare_statements() {
    const std::pair<Database::Statement*, std::string> all[] = {
        {&insert_, "INSERT INTO journal (row, checksum, effects) VALUES (?1, ?2, ?3)"},
        {&sizes_, "SELECT row, length(effects) FROM journal WHERE row < ?1 ORDER BY row LIMIT " +
                      std::to_string(forgotten_max)},
        {&forget_, "DELETE FROM journal WHERE row < ?1"},
        {&fetch_,
         "SELECT row, checksum, effects FROM journal WHERE row BETWEEN ?1 AND ?2"
         " ORDER BY row"},
    };
    for (const auto& [statement, sql] : all) {
        auto prepared = database_.prepare(sql);
        if (!prepared) return prepared.error();
        *statement = *std::move(prepared);
    }
    reader_.open(database_.path(), coalescing_vfs());
    return {};
}

Result<void> JournalFile::read(const Reader& each) {
    if (auto usable = mend(); !usable) return usable;
    auto done = read_rows(each);
    unreadable_ = !done;
    return done;
}

Result<void> JournalFile::read_rows(const Reader& each) {
    first_row_ = 1;
    last_row_ = 0;
    bytes_ = 0;
    const auto statement =
        database_.prepare("SELECT row, checksum, effects FROM journal ORDER BY row");
    if (!statement) return statement.error();
    const auto& rows = *statement;
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(rows.get())) == SQLITE_ROW) {
        const auto row = static_cast<std::uint64_t>(sqlite3_column_int64(rows.get(), 0));
        const auto changes = blob(rows.get(), 2);
        if (last_row_ == 0) first_row_ = row;
        const bool gap = last_row_ != 0 && row != last_row_ + 1;
        if (gap || sqlite3_column_int64(rows.get(), 1) != row_checksum(row, changes)) {
            return Error{Errc::corrupted, database_.name() + ": row " + std::to_string(row) +
                                              (gap ? " follows a gap" : " is damaged")};
        }
        last_row_ = row;
        bytes_ += footprint(changes.size());
        if (auto taken = each(row, changes); !taken) {
            return Error{taken.error().code(), database_.name() + ": row " + std::to_string(row) +
                                                   ": " + taken.error().context()};
        }
    }
    if (code != SQLITE_DONE) return database_.error("cannot read it");
    return {};
}

/// The mutex must be locked.
Result<JournalFile::Rows> JournalFile::read_range(std::uint64_t first, std::uint64_t last,
                                                  std::uint64_t bytes_max) {
    if (auto usable = mend(); !usable) return usable.error();
    auto* statement = fetch_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(first));
    sqlite3_bind_int64(statement, 2, static_cast<sqlite3_int64>(last));
    auto fetched = [&]() -> Result<Rows> {
        Rows rows{.first = first, .changes = {}};
        std::uint64_t bytes = 0;
        for (auto row = first; row <= last && bytes < bytes_max; ++row) {
            const int code = sqlite3_step(statement);
            const bool found = code == SQLITE_ROW;
            if (!found && code != SQLITE_DONE) return database_.error("cannot read it");
            const auto which = [&] { return database_.name() + ": row " + std::to_string(row); };
            if (!found || sqlite3_column_int64(statement, 0) != static_cast<sqlite3_int64>(row)) {
                return Error{Errc::corrupted, which() + " is missing"};
            }
            const auto changes = blob(statement, 2);
            if (sqlite3_column_int64(statement, 1) != row_checksum(row, changes)) {
                return Error{Errc::corrupted, which() + " is damaged"};
            }
            bytes += footprint(changes.size());
            rows.changes.emplace_back(changes);
        }
        return rows;
    }();
    sqlite3_reset(statement);
    return fetched;
}

Result<std::string> JournalFile::fetch(std::uint64_t row) {
    if (auto changes = reader_.fetch(row)) return *std::move(changes);
    const std::lock_guard lock{mutex_};
    auto rows = read_range(row, row, 1);
    if (!rows) return rows.error();
    return std::move(rows->changes.front());
}

std::vector<std::string> JournalFile::problems() {
    std::vector<std::string> all;
    const auto statement = database_.prepare("PRAGMA quick_check");
    if (!statement) return {statement.error().context()};
    int code = SQLITE_ROW;
    while ((code = sqlite3_step(statement->get())) == SQLITE_ROW) {
        std::string line{blob(statement->get(), 0)};
        if (line != "ok") all.push_back(std::move(line));
    }
    if (code != SQLITE_DONE) all.push_back(database_.error("cannot check it").context());
    return all;
}

Result<JournalFile::Extent> JournalFile::extent() {
    const auto first = database_.number("SELECT ifnull(min(row), 0) FROM journal");
    if (!first) return first.error();
    const auto last = database_.number("SELECT ifnull(max(row), 0) FROM journal");
    if (!last) return last.error();
    return Extent{static_cast<std::uint64_t>(*first), static_cast<std::uint64_t>(*last)};
}

Result<void> JournalFile::append(std::string_view changes, std::uint64_t needed, bool urgent) {
    const std::lock_guard lock{mutex_};
    try {
        if (auto written = append_row(changes, needed, urgent); !written) return written;
    } catch (const std::bad_alloc&) {
        database_.roll_back();
        return Error{Errc::unavailable, "out of memory"};
    }
    ++last_row_;
    bytes_ += footprint(changes.size());
    database_.checkpoint_if_due();
    return {};
}

Result<void> JournalFile::append_row(std::string_view changes, std::uint64_t needed, bool urgent) {
    if (auto usable = make_ready(); !usable) return usable;
    if (database_.full() && reserve_.bytes() > 0 && !full_) {
        wants_space_ = true;
        return Error{Errc::unavailable, database_.name() + ": cannot write: the disk is full"};
    }
    // On a full disk, rows are deleted even if a running backup still needs them.
    if (!full_) needed = std::min(needed, retained_from_);
    const auto garbage = needed - std::min(needed, first_row_);
    const bool worthwhile = garbage >= (urgent ? 1 : forgotten_min);
    auto done = worthwhile ? insert_and_forget(changes, needed) : insert(last_row_ + 1, changes);
    if (!done) {
        wants_space_ = database_.failed_for_space();
        database_.roll_back();
    }
    return done;
}

Result<void> JournalFile::insert(std::uint64_t row, std::string_view changes) {
    auto* statement = insert_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(row));
    sqlite3_bind_int64(statement, 2, row_checksum(row, changes));
    // This error means that `changes` is too long for SQLite.
    int code = sqlite3_bind_blob64(statement, 3, changes.data(), changes.size(), SQLITE_STATIC);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    auto result =
        code == SQLITE_DONE ? Result<void>{} : Result<void>{database_.error("cannot write")};
    sqlite3_reset(statement);
    return result;
}

Result<void> JournalFile::insert_and_forget(std::string_view changes, std::uint64_t needed) {
    if (auto done = database_.run("BEGIN IMMEDIATE"); !done) return done;
    if (auto done = insert(last_row_ + 1, changes); !done) return done;
    // Deletes more bytes than the new row adds. Otherwise garbage would accumulate.
    const auto gone =
        head(needed, std::max<std::uint64_t>(forgotten_bytes_max, 2 * changes.size()));
    if (!gone) return gone.error();
    if (auto done = forget(gone->end); !done) return done;
    if (auto done = shrink(pages_returned_busy); !done) return done.error();
    if (auto done = database_.run("COMMIT"); !done) return done;
    first_row_ = gone->end;
    bytes_ -= std::min(bytes_, gone->bytes);
    return {};
}

/// Selects the oldest rows for deletion: at least one, if any row is before `needed`.
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
    if (code != SQLITE_ROW && code != SQLITE_DONE) result = database_.error("cannot read it");
    sqlite3_reset(statement);
    return result;
}

/// The bytes that a row takes in the file, including a share of the unused part of its page. The
/// formula follows SQLite's format of table leaf pages
/// (https://sqlite.org/fileformat2.html#b_tree_pages).
std::uint64_t JournalFile::footprint(std::uint64_t changes) const noexcept {
    constexpr std::uint64_t row_bytes = 16;  // Number, checksum and lengths.
    const auto bytes = changes + row_bytes;
    const auto local_max = database_.page_size() - 35;
    if (bytes <= local_max) return database_.page_size() / (database_.page_size() / bytes);
    // SQLite stores a long row in overflow pages, and the remainder in the leaf page if it fits.
    const auto local_min = (database_.page_size() - 12) * 32 / 255 - 23;
    const auto whole = (bytes - local_min) / (database_.page_size() - 4);
    const auto over = local_min + (bytes - local_min) % (database_.page_size() - 4);
    if (over <= local_max)
        return whole * database_.page_size() +
               database_.page_size() / (database_.page_size() / over);
    return (whole + 1) * database_.page_size() + local_min;
}

Result<void> JournalFile::forget(std::uint64_t before) {
    auto* statement = forget_.get();
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(before));
    const int code = sqlite3_step(statement);
    auto result =
        code == SQLITE_DONE ? Result<void>{} : Result<void>{database_.error("cannot write")};
    sqlite3_reset(statement);
    may_shrink_ = true;
    return result;
}

/// Truncates free pages at the end of the file, if there are many. True if more remain.
Result<bool> JournalFile::shrink(int pages) {
    const auto free = database_.number("PRAGMA freelist_count");
    if (!free) return free.error();
    if (*free <= free_pages_kept()) {
        may_shrink_ = false;
        return false;
    }
    auto done = database_.run(("PRAGMA incremental_vacuum(" + std::to_string(pages) + ")").c_str());
    if (!done) return done.error();
    shrunk_ = true;
    return true;
}

// --- Backups ------------------------------------------------------------------------------------

JournalFile::Extent JournalFile::retain_rows() {
    const std::lock_guard lock{mutex_};
    retained_from_ = first_row_;
    return {first_row_, last_row_};
}

void JournalFile::release_rows(std::uint64_t row) {
    const std::lock_guard lock{mutex_};
    retained_from_ = row;
}

Result<JournalFile::Rows> JournalFile::copy_rows(std::uint64_t first, std::uint64_t last,
                                                 std::uint64_t bytes_max) {
    const std::lock_guard lock{mutex_};
    if (first < first_row_) {
        return Error{Errc::unavailable, database_.name() + ": its disk became full meanwhile"};
    }
    return read_range(first, last, bytes_max);
}

Result<void> JournalFile::append_copies(const Rows& rows) {
    const std::lock_guard lock{mutex_};
    if (auto usable = make_ready(); !usable) return usable;
    if (last_row_ == 0) first_row_ = rows.first;
    auto row = rows.first;
    auto done = database_.run("BEGIN IMMEDIATE");
    for (const auto& changes : rows.changes) {
        if (done) done = insert(row++, changes);
    }
    if (done) done = database_.run("COMMIT");
    if (!done) {
        database_.roll_back();
        return done;
    }
    last_row_ = row - 1;
    for (const auto& changes : rows.changes) bytes_ += footprint(changes.size());
    database_.checkpoint_if_due();
    return done;
}

// --- Space --------------------------------------------------------------------------------------

Result<bool> JournalFile::shrink() {
    const std::lock_guard lock{mutex_};
    if (auto usable = make_ready(); !usable) return usable.error();
    auto more = may_shrink_ ? shrink(pages_returned_idle) : Result<bool>{false};
    if (!more || *more || !std::exchange(shrunk_, false)) return more;
    // The database file becomes shorter only when the log is checkpointed.
    if (auto done = cut_log(); !done) return done.error();
    return false;
}

Result<void> JournalFile::probe() {
    const std::lock_guard lock{mutex_};
    if (auto there = database_.look_for_files(); !there) return there;
    if (std::exchange(wants_space_, false) && reserve_.bytes() > 0) run_full();
    if (auto usable = make_ready(); !usable) return usable;
    // On a full disk, truncating the log frees space.
    if (full_) {
        if (auto done = cut_log(); !done) return done;
    }
    auto done =
        database_.run("INSERT OR REPLACE INTO probe (id, filler) VALUES (1, randomblob(65536))");
    if (done) done = database_.run("DELETE FROM probe");
    may_shrink_ = true;
    return done;
}

}  // namespace routemaster::embedded
