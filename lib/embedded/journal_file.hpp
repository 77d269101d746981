/// @file
/// `JournalFile`: the file of the embedded store, an append-only journal in one table of a SQLite
/// database.
///
/// docs/file-format.md describes the file, and how to change the format.

#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "database.hpp"
#include "journal.hpp"
#include "reserve.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "row_reader.hpp"

namespace routemaster::embedded {

/// How to handle a damaged or missing SQLite log when acknowledged rows are lost.
enum class DamagedLog {
    refused,  ///< Opening fails and leaves the files unchanged.
    /// Opening succeeds, and `damage` describes the damage. The file must not be written.
    reported,
    accepted,  ///< Opening succeeds with the rows before the damage. The log is copied.
};

/// Journal of a store in a SQLite database. Only one process may open the file.
///
/// A flag in the file records that the file has a write-ahead log (docs/file-format.md). The flag
/// is set while rows may be in the log only, and makes a lost log detectable.
class JournalFile final : public Journal {
public:
    /// Opens or creates the file, and locks it for this process. Throws as `EmbeddedStore` does.
    /// `reserve` is how many bytes of disk space `begin` reserves for the time when the disk is
    /// full. `logger` receives a message if damage is accepted.
    explicit JournalFile(const std::filesystem::path& file, DamagedLog log = DamagedLog::refused,
                         std::uint64_t reserve = 0, const Log& logger = {});
    ~JournalFile() override;

    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    Result<void> read(const Reader& each) override;
    Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) override;
    Result<std::string> fetch(std::uint64_t row) override;
    Result<bool> shrink() override;
    Result<void> probe() override;

    /// Allocates the reserve and prepares the file for writing. Without this call, the first
    /// `append` prepares the file.
    Result<void> begin();

    Result<void> look_for_files();

    /// Whether the disk became full and the reserve was released. No data may be added until
    /// `take_reserve` succeeds. May be called from any thread.
    [[nodiscard]] bool full() const noexcept { return full_; }

    /// Tries to allocate the reserve again. Besides the reserve, `halves` times half a reserve must
    /// be free. True on success.
    bool take_reserve(std::uint64_t halves);

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return database_.path(); }

    [[nodiscard]] std::uint64_t reserve_bytes() const noexcept { return reserve_.bytes(); }

    /// Describes the damage of SQLite's log. Nothing without damage.
    [[nodiscard]] const std::optional<std::string>& damage() const noexcept { return damage_; }

    /// Problems in the structure of the database, found by SQLite, one line each. Rows are not
    /// checked.
    [[nodiscard]] std::vector<std::string> problems();

    struct Extent {
        std::uint64_t first = 0;  ///< 0 if there is no row.
        std::uint64_t last = 0;
    };
    [[nodiscard]] Result<Extent> extent();

    // --- Backups --------------------------------------------------------------------------------

    struct Rows {
        std::uint64_t first = 0;
        std::vector<std::string> changes;
    };

    /// Keeps the journal from deleting the current rows until `release_rows`. Returns the numbers
    /// of these rows.
    [[nodiscard]] Extent retain_rows();
    /// Allows the journal to delete rows before `row`. May be called from any thread.
    void release_rows(std::uint64_t row = std::numeric_limits<std::uint64_t>::max());
    /// Reads the rows from `first` to `last`. Stops early when the rows exceed `bytes_max`.
    /// `corrupted` if a row is damaged or missing. May be called from any thread.
    [[nodiscard]] Result<Rows> copy_rows(std::uint64_t first, std::uint64_t last,
                                         std::uint64_t bytes_max);
    /// Appends rows of another journal in one commit. The rows retain their numbers. The first
    /// number must follow the last row of this journal.
    Result<void> append_copies(const Rows& rows);

    // --------------------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

private:
    struct Head {
        std::uint64_t end = 0;  ///< The first row that is not deleted.
        std::uint64_t bytes = 0;
    };

    void check_kind();
    void create();
    [[nodiscard]] Result<std::optional<std::string>> damage_of_log();
    [[nodiscard]] Error damaged() const;
    Result<void> note_log();
    void note_no_log();
    Result<void> cut_log();
    void accept_damage(const Log& logger);
    void run_full();
    void keep_reserve();
    void reset_statements();
    [[nodiscard]] std::int64_t free_pages_kept() const noexcept;
    Result<void> set_version(std::int64_t version);
    [[nodiscard]] Result<void> make_ready();
    [[nodiscard]] Result<void> read_rows(const Reader& each);
    Result<void> prepare_statements();
    [[nodiscard]] Result<void> mend();

    [[nodiscard]] Result<Rows> read_range(std::uint64_t first, std::uint64_t last,
                                          std::uint64_t bytes_max);
    Result<void> append_row(std::string_view changes, std::uint64_t needed, bool urgent);
    Result<void> insert(std::uint64_t row, std::string_view changes);
    Result<void> insert_and_forget(std::string_view changes, std::uint64_t needed);
    [[nodiscard]] std::uint64_t footprint(std::uint64_t changes) const noexcept;
    [[nodiscard]] Result<Head> head(std::uint64_t needed, std::uint64_t bytes_max);
    Result<void> forget(std::uint64_t before);
    /// Whether the disk has space for the reserve plus `halves` times half a reserve, assuming that
    /// `further` more bytes were free.
    [[nodiscard]] bool has_space(std::uint64_t halves, std::uint64_t further = 0);
    Result<bool> shrink(int pages);

    std::mutex mutex_;  // Guards SQLite, because one thread may fetch while another appends.
    Database database_;
    Database::Statement insert_;
    Database::Statement sizes_;
    Database::Statement forget_;
    Database::Statement fetch_;
    RowReader reader_;
    DamagedLog damaged_log_;
    std::optional<std::string> damage_;
    bool log_noted_ = false;
    bool unreadable_ = false;
    Reserve reserve_;
    std::atomic<bool> full_ = false;
    bool wants_space_ = false;  // The last row was rejected because the disk was full.
    bool may_shrink_ = true;    // The file may have more free pages than `free_pages_kept_max`.
    bool shrunk_ = false;       // Pages were freed since the last `cut_log`.
    std::uint64_t retained_from_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t first_row_ = 1;
    std::uint64_t last_row_ = 0;
    std::uint64_t bytes_ = 0;  ///< Sum of the footprints of all rows.
};

}  // namespace routemaster::embedded
