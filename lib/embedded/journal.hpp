/// @file
/// `Journal`: the interface between the embedded store and its journal.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// An append-only sequence of numbered rows. Each row contains changes of the store. The oldest
/// rows may be deleted.
///
/// Thread safety: one thread at a time. Only `fetch` may be called concurrently by another thread.
class Journal {
public:
    virtual ~Journal() = default;

    /// Receives a row. An error ends the reading.
    using Reader = std::function<Result<void>(std::uint64_t row, std::string_view changes)>;

    /// Passes all rows to `each`, the oldest first. `corrupted` if a row is damaged or missing.
    virtual Result<void> read(const Reader& each) = 0;

    /// Appends a row, and may delete rows before `needed` in the same transaction. The journal
    /// deletes rows once many are garbage, or at once if `urgent`. After a successful return the
    /// row is on disk.
    virtual Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) = 0;

    /// The changes of a row. `corrupted` if the row is damaged or missing.
    virtual Result<std::string> fetch(std::uint64_t row) = 0;

    /// Returns a bounded amount of free space to the disk. True if more space can be returned.
    virtual Result<bool> shrink() = 0;

    /// Tests whether the disk accepts writes again.
    virtual Result<void> probe() = 0;

    /// The number of the newest row; 0 if there is no row.
    [[nodiscard]] virtual std::uint64_t last_row() const noexcept = 0;

    /// Bytes that all rows take on disk.
    [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace routemaster::embedded
