/// @file
/// The file of the embedded store: an append-only journal in one table of a SQLite database.
///
/// What the file looks like, and how to change that, is written in docs/file-format.md.

#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "journal.hpp"
#include "routemaster/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace routemaster::embedded {

/// The journal of one store. Owned by one process, used by one thread at a time.
class JournalFile final : public Journal {
public:
    /// Opens or creates it, and locks it for this process. Throws as `EmbeddedStore` does.
    explicit JournalFile(std::filesystem::path file);
    ~JournalFile() override;

    JournalFile(const JournalFile&) = delete;
    JournalFile& operator=(const JournalFile&) = delete;

    Result<void> read(const Reader& each) override;
    Result<void> append(std::string_view effects, std::uint64_t needed, bool urgent) override;
    Result<void> probe() override;
    [[nodiscard]] std::uint64_t last_row() const noexcept override { return last_row_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept override { return bytes_; }

private:
    struct Closer {
        void operator()(sqlite3* database) const noexcept;
        void operator()(sqlite3_stmt* statement) const noexcept;
    };
    using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

    void check_size();
    void lock();
    void check_kind();
    void create();
    void prepare_statements();

    Result<void> insert(std::string_view effects);
    Result<void> insert_and_forget(std::string_view effects, std::uint64_t needed);
    Result<std::uint64_t> forget(std::uint64_t needed);
    Result<void> run(const char* sql);
    Result<std::int64_t> number(const char* sql);
    [[nodiscard]] Result<Statement> prepare(const char* sql);
    [[nodiscard]] Error error(const char* doing) const;

    std::filesystem::path path_;
    std::unique_ptr<sqlite3, Closer> database_;
    Statement insert_;
    Statement forget_;
    std::uint64_t first_row_ = 1;
    std::uint64_t last_row_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace routemaster::embedded
