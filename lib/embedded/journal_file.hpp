/// @file
/// The file of the embedded store: an append-only journal in one table of a SQLite database.
///
/// What the file looks like, and how to change that, is written in docs/file-format.md.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpointer.hpp"
#include "file_claim.hpp"
#include "journal.hpp"
#include "routemaster/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace routemaster::embedded {

/// The journal of one store. Owned by one process.
class JournalFile final : public Journal {
public:
    /// Opens or creates it, and locks it for this process. Throws as `EmbeddedStore` does.
    explicit JournalFile(const std::filesystem::path& file);
    ~JournalFile() override;

    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    Result<void> read(const Reader& each) override;
    Result<void> append(std::string_view effects, std::uint64_t needed, bool urgent) override;
    Result<std::string> fetch(std::uint64_t row) override;
    Result<bool> give_back() override;
    Result<void> probe() override;

    /// What SQLite finds wrong with the database, one line each; the rows are not looked into.
    [[nodiscard]] std::vector<std::string> problems();

    /// The numbers of the oldest and the newest row.
    struct Extent {
        std::uint64_t first = 0;  ///< 0 when there is none.
        std::uint64_t last = 0;
    };
    [[nodiscard]] Result<Extent> extent();

    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

private:
    /// A row takes many pages, and each costs a call or two to write, to read and to forget.
    static constexpr std::uint64_t page_size_default = 16U << 10U;

    struct Closer {
        void operator()(sqlite3* database) const noexcept;
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

    /// What may be forgotten of the beginning at once.
    struct Head {
        std::uint64_t end = 0;  ///< The first row that stays.
        std::uint64_t bytes = 0;
    };

    void open();
    [[nodiscard]] Result<void> reopen_if_suspect();
    void suspect();
    void empty_log_when_closed(bool on);
    void check_size();
    [[nodiscard]] bool is_empty() const;
    void lock();
    void check_kind();
    void create();
    Result<void> set_version();
    void prepare_statements();

    Result<void> insert(std::string_view effects);
    Result<void> insert_and_forget(std::string_view effects, std::uint64_t needed);
    [[nodiscard]] std::uint64_t footprint(std::uint64_t effects) const noexcept;
    [[nodiscard]] Result<Head> head(std::uint64_t needed, std::uint64_t bytes_max);
    Result<void> forget(std::uint64_t before);
    Result<bool> shrink(int pages);
    void log_grew(int pages);
    void bring_pages_home();
    bool begin_checkpoint();
    [[nodiscard]] bool wait_for_checkpointer();
    Result<void> checkpoint(int mode);
    Result<void> run(const char* sql);
    Result<std::int64_t> number(const char* sql);
    [[nodiscard]] Result<Statement> prepare(const std::string& sql);
    [[nodiscard]] Error error(const char* doing) const;

    std::filesystem::path path_;  // Absolute: the folder of the process may change.
    std::mutex mutex_;            // SQLite's: one thread may fetch while another appends.
    std::optional<FileClaim> claim_;
    std::unique_ptr<sqlite3, Closer> database_;
    Statement insert_;
    Statement sizes_;
    Statement forget_;
    Statement fetch_;
    bool suspect_ = false;  // What SQLite takes for written may be lost.
    bool shrunk_ = false;   // Since the file was last cut.
    std::uint64_t first_row_ = 1;
    std::uint64_t last_row_ = 0;
    std::uint64_t bytes_ = 0;  ///< The footprints of all rows.
    std::uint64_t page_size_ = page_size_default;

    int log_pages_ = 0;                   // In SQLite's write-ahead log.
    std::uint64_t log_ = 0;               // Counts how often that began anew.
    std::uint64_t checkpointed_log_ = 0;  // The one the checkpointer was last asked to look at.
    std::optional<Checkpointer> checkpointer_;  // Once there is work for it.
};

}  // namespace routemaster::embedded
