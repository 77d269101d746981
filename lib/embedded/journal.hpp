/// @file
/// `Journal`: the interface between the embedded store and its journal.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// Append-only sequence of numbered rows. Each row contains changes of the store. The oldest rows
/// can be deleted.
///
/// Thread safety: one thread at a time. Only `fetch` may be called concurrently by another thread.
class Journal {
public:
    virtual ~Journal() = default;

    /// Callback that receives a row. If it returns an error, reading stops.
    using Reader = std::function<Result<void>(std::uint64_t row, std::string_view changes)>;

    /// Reads all rows, oldest first, and passes each to `each`. `corrupted` if a row is damaged or
    /// missing.
    virtual Result<void> read(const Reader& each) = 0;

    /// Appends a row, and may delete rows before `needed` in the transaction. The journal deletes
    /// rows in groups, or at once if `urgent`. After a success, the row is on disk.
    virtual Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) = 0;

    /// Reads the changes in a row. `corrupted` if the row is damaged or missing.
    virtual Result<std::string> fetch(std::uint64_t row) = 0;

    /// Returns a limited amount of free file space to the disk. True if more can be returned.
    virtual Result<bool> shrink() = 0;

    /// Tests whether the disk accepts writes again after a failure.
    virtual Result<void> probe() = 0;

    [[nodiscard]] virtual std::uint64_t last_row() const noexcept = 0;

    [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace routemaster::embedded
