#include "row_reader.hpp"

#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "row_checksum.hpp"

namespace routemaster::embedded {

void RowReader::open(const std::filesystem::path& file, const char* access) {
    sqlite3* opened = nullptr;
    int code =
        sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, access);
    std::unique_ptr<sqlite3, Database::Closer> connection{opened};
    sqlite3_stmt* prepared = nullptr;
    // The page cache can be small, because `RowCache` caches rows. `query_only` also forbids the
    // checkpoint that SQLite makes when the last connection closes. This is safe, because the main
    // connection closes last.
    if (code == SQLITE_OK) {
        code = sqlite3_exec(opened, "PRAGMA cache_size=-64; PRAGMA query_only=ON", nullptr, nullptr,
                            nullptr);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(opened, "SELECT checksum, effects FROM journal WHERE row = ?1",
                                  -1, &prepared, nullptr);
    }
    Database::Statement statement{prepared};
    if (code != SQLITE_OK) return;
    const std::lock_guard lock{mutex_};
    fetch_ = std::move(statement);
    connection_ = std::move(connection);
}

void RowReader::close() {
    const std::lock_guard lock{mutex_};
    fetch_.reset();
    connection_.reset();
}

std::optional<std::string> RowReader::fetch(std::uint64_t row) {
    const std::lock_guard lock{mutex_};
    auto* statement = fetch_.get();
    if (statement == nullptr) return std::nullopt;
    sqlite3_bind_int64(statement, 1, static_cast<sqlite3_int64>(row));
    std::optional<std::string> changes;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, 1));
        const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, 1));
        const std::string_view found{bytes, size};
        if (sqlite3_column_int64(statement, 0) == row_checksum(row, found)) changes.emplace(found);
    }
    sqlite3_reset(statement);
    return changes;
}

}  // namespace routemaster::embedded
