/// @file
/// `RowCache`: a cache of journal rows.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "journal.hpp"
#include "routemaster/error.hpp"

namespace routemaster::embedded {

/// Cache of the last four journal rows that were read, because entities that were written together
/// are usually read together.
///
/// Not thread safe.
class RowCache {
public:
    explicit RowCache(Journal& journal) : journal_{journal} {}

    /// `size` bytes of a row from `offset`. Valid until the next call. Throws `Failure` if the row
    /// cannot be read, or if `offset` is beyond its end.
    std::string_view read(std::uint64_t row, std::size_t offset, std::size_t size) {
        return part(fetched(row), row, offset).substr(0, size);
    }
    /// The bytes of a row from `offset` to the end. Valid until the next call. Throws as above.
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
