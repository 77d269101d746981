/// @file
/// Reads rows of the journal again.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "journal.hpp"
#include "routemaster/error.hpp"

namespace routemaster::embedded {

/// Keeps the rows that were read last: what was written together is mostly needed together.
///
/// Not thread safe.
class RowCache {
public:
    explicit RowCache(Journal& journal) : journal_{journal} {}

    /// `size` bytes of a row, from `offset` on; valid until the next call. Throws `Failure` when
    /// the row cannot be read, or is shorter.
    std::string_view read(std::uint64_t row, std::size_t offset, std::size_t size) {
        return part(fetched(row), row, offset).substr(0, size);
    }
    /// The same, up to the end of the row.
    std::string_view read(std::uint64_t row, std::size_t offset) {
        return part(fetched(row), row, offset);
    }

private:
    struct Kept {
        std::uint64_t row = 0;
        std::string changes;
    };

    const std::string& fetched(std::uint64_t row) {
        for (const auto& kept : rows_) {
            if (kept.row == row) return kept.changes;
        }
        auto& oldest = rows_[next_];
        next_ = (next_ + 1) % rows_.size();
        oldest = {};
        oldest.changes = journal_.fetch(row).value();
        oldest.row = row;
        return oldest.changes;
    }

    static std::string_view part(std::string_view changes, std::uint64_t row, std::size_t offset) {
        if (offset < changes.size()) return changes.substr(offset);
        throw Failure{{Errc::corrupted, "row " + std::to_string(row) + " is too short"}};
    }

    Journal& journal_;
    std::array<Kept, 4> rows_;
    std::size_t next_ = 0;
};

}  // namespace routemaster::embedded
