/// @file
/// The interface between the embedded store and its journal.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "routemaster/result.hpp"

namespace routemaster::embedded {

/// Numbered rows of changes, of which the oldest may be forgotten.
///
/// Used by one thread at a time, except for `fetch`, which another may call at any time.
class Journal {
public:
    virtual ~Journal() = default;

    /// Takes one row, by number. An error ends the reading.
    using Reader = std::function<Result<void>(std::uint64_t row, std::string_view changes)>;

    /// Passes all rows to `each`, the oldest first. `corrupted` when one is damaged or missing.
    virtual Result<void> read(const Reader& each) = 0;

    /// Writes a row behind the last one and forgets rows before `needed`, when there are many or it
    /// is `urgent`; both or neither. When it returns, the row is on disk.
    virtual Result<void> append(std::string_view changes, std::uint64_t needed, bool urgent) = 0;

    /// The changes of one row. `corrupted` when it is damaged or missing.
    virtual Result<std::string> fetch(std::uint64_t row) = 0;

    /// Returns a bounded amount of unneeded space to the disk. True when there is more.
    virtual Result<bool> shrink() = 0;

    /// Tests whether the disk takes data again.
    virtual Result<void> probe() = 0;

    /// The number of the newest row; 0 when there is none.
    [[nodiscard]] virtual std::uint64_t last_row() const noexcept = 0;

    /// Bytes that all rows take on disk.
    [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
};

}  // namespace routemaster::embedded
