/// @file
/// The file of the embedded store: an append-only journal in one table of a SQLite database.
///
/// docs/file-format.md describes the file, and how to change that.

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

/// What to do when acknowledged rows are missing because SQLite's log is damaged or gone.
enum class DamagedLog {
    refused,   ///< Opening fails, and the files stay as they are.
    reported,  ///< Only `damage` reports it. Nothing may be written then.
    accepted,  ///< The journal resumes from the rows before the damage; a copy of the log stays.
};

/// The journal of one store. Owned by one process.
///
/// While rows may be in SQLite's log alone, a flag in the file says that it has one
/// (docs/file-format.md), so that a lost log is noticed.
class JournalFile final : public Journal {
public:
    /// Opens or creates it, and locks it for this process. Throws as `EmbeddedStore` does. `begin`
    /// sets `reserve` bytes of the disk aside. `logger` gets a line when damage is accepted.
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

    /// Makes it ready for rows, which the first row does otherwise.
    Result<void> begin();

    /// `unavailable` when the file, or its log, was moved or removed: nobody would find what is
    /// written now.
    Result<void> look_for_files();

    /// Whether the disk was full, so that the reserve was released: nothing that adds data may be
    /// written until `take_reserve` succeeds. May be called from any thread.
    [[nodiscard]] bool full() const noexcept { return full_; }

    /// Tries to set the reserve aside again. True when it is, and `halves` halves of it are free
    /// beside it.
    bool take_reserve(std::uint64_t halves);

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return database_.path(); }

    [[nodiscard]] std::uint64_t reserve_bytes() const noexcept { return reserve_.bytes(); }

    /// What is wrong with SQLite's log; nothing when no damage was found.
    [[nodiscard]] const std::optional<std::string>& damage() const noexcept { return damage_; }

    /// What SQLite finds wrong with the database, one line each; the rows are not checked.
    [[nodiscard]] std::vector<std::string> problems();

    /// The numbers of the oldest and the newest row.
    struct Extent {
        std::uint64_t first = 0;  ///< 0 when there is none.
        std::uint64_t last = 0;
    };
    [[nodiscard]] Result<Extent> extent();

    // --- Copies ---------------------------------------------------------------------------------

    /// Consecutive rows.
    struct Rows {
        std::uint64_t first = 0;
        std::vector<std::string> changes;
    };

    /// Keeps all rows there are now until `release_rows`, and returns their extent.
    [[nodiscard]] Extent retain_rows();
    /// Rows before `row` may be forgotten again. May be called from any thread.
    void release_rows(std::uint64_t row = std::numeric_limits<std::uint64_t>::max());
    /// The rows from `first` to `last`, until they exceed `bytes_max`. `corrupted` when one is
    /// damaged or missing. May be called from any thread.
    [[nodiscard]] Result<Rows> copy_rows(std::uint64_t first, std::uint64_t last,
                                         std::uint64_t bytes_max);
    /// Appends rows of another journal in one commit, with their own numbers, which must follow the
    /// rows here.
    Result<void> append_copies(const Rows& rows);

    // --------------------------------------------------------------------------------------------

    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

private:
    /// The oldest rows, to be forgotten at once.
    struct Head {
        std::uint64_t end = 0;  ///< The first row that stays.
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
    /// Whether the reserve and so many halves of it fit, if `further` bytes were free as well.
    [[nodiscard]] bool has_space(std::uint64_t halves, std::uint64_t further = 0);
    Result<bool> shrink(int pages);

    std::mutex mutex_;  // For SQLite: one thread may fetch while another appends.
    Database database_;
    Database::Statement insert_;
    Database::Statement sizes_;
    Database::Statement forget_;
    Database::Statement fetch_;
    RowReader reader_;  // Fetches while another thread appends.
    DamagedLog damaged_log_;
    std::optional<std::string> damage_;
    bool log_noted_ = false;
    bool unreadable_ = false;  // The last read of the rows failed.
    Reserve reserve_;
    std::atomic<bool> full_ = false;
    bool wants_space_ = false;  // The last row was not written for lack of space.
    bool may_shrink_ = true;    // There may be more free pages than are kept.
    bool shrunk_ = false;       // Pages were freed since the file was last cut.
    std::uint64_t retained_from_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t first_row_ = 1;
    std::uint64_t last_row_ = 0;
    std::uint64_t bytes_ = 0;  ///< The footprints of all rows.
};

}  // namespace routemaster::embedded
