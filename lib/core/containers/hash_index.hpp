/// @file
/// A hash table of pointers to objects: open addressing, 12 bytes per slot.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/containers/huge_page_allocator.hpp"
#include "core/containers/prefetch.hpp"

namespace routemaster::detail {

/// Hash table of pointers. It never computes a hash: the caller passes the hash of an object, and
/// the table stores it. The table does not own the objects, which must not move. While the table
/// grows, 0.53 to 0.8 of the slots are used, so an object takes 15 to 23 bytes. `each` visits
/// objects in no particular order.
///
/// Not thread safe.
template <class T>
class HashIndex {
public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    template <class Is>
    [[nodiscard]] T* find(std::uint32_t hash, Is is) const {
        if (size_ == 0) return nullptr;
        const auto mark = marked(hash);
        for (auto at = home(mark); marks_[at] != vacant; at = next(at)) {
            if (marks_[at] == mark && is(*things_[at])) return things_[at];
        }
        return nullptr;
    }

    /// Prefetches the first slots of a search into the processor's cache. Many searches prefetched
    /// together take little longer than a single search, because their cache misses overlap.
    void fetch(std::uint32_t hash) const noexcept {
        if (size_ == 0) return;
        const auto at = home(marked(hash));
        constexpr auto line = 64 / sizeof(T*);
        prefetch(&marks_[at]);
        prefetch(&things_[at]);
        // Also prefetches the next cache line, because many objects are a few slots after their
        // home slot.
        prefetch(&things_[std::min(at + line, things_.size() - 1)]);
    }
    [[nodiscard]] T* guess(std::uint32_t hash) const noexcept {
        return find(hash, [](const T&) { return true; });
    }

    /// Inserts an object. The table must not contain the object.
    void insert(std::uint32_t hash, T& thing) {
        if (size_ + 1 > marks_.size() / 5 * 4) resize(std::max(places_min, marks_.size() / 2 * 3));
        put(marked(hash), thing);
        ++size_;
    }

    /// Removes an object. The table must contain the object.
    void remove(std::uint32_t hash, const T& thing) {
        auto hole = home(marked(hash));
        while (things_[hole] != &thing) hole = next(hole);
        // Moves later objects into the hole, except objects whose home slot is behind the hole.
        // This way, removal leaves no tombstones, and searches do not slow down with time.
        for (auto at = next(hole); marks_[at] != vacant; at = next(at)) {
            if (distance(home(marks_[at]), at) < distance(hole, at)) continue;
            marks_[hole] = marks_[at];
            things_[hole] = things_[at];
            hole = at;
        }
        marks_[hole] = vacant;
        things_[hole] = nullptr;
        --size_;
        if (marks_.size() > kept_max && size_ < marks_.size() / 10) resize(marks_.size() / 4);
    }

    /// Calls `visit` with each object. `visit` must not change the table.
    template <class Visit>
    void each(Visit visit) const {
        constexpr std::size_t ahead = 16;
        for (std::size_t at = 0; at < things_.size(); ++at) {
            if (at + ahead < things_.size()) prefetch(things_[at + ahead]);
            if (things_[at] != nullptr) visit(*things_[at]);
        }
    }

private:
    template <class Place>
    using Table = std::vector<Place, HugePageAllocator<Place>>;

    static constexpr std::uint32_t vacant = 0;
    static constexpr std::size_t places_min = 16;
    /// The table never shrinks below this number of slots, so thousands of objects can be inserted
    /// and removed without a resize.
    static constexpr std::size_t kept_max = 4'096;

    static std::uint32_t marked(std::uint32_t hash) noexcept { return hash == vacant ? 1 : hash; }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return at + 1 == marks_.size() ? 0 : at + 1;
    }
    [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
        return to >= from ? to - from : to + marks_.size() - from;
    }

    /// The home slot of a hash, where a search begins. The factor is 2^32 divided by the golden
    /// ratio. It scatters even successive hashes over the range from 0 to 2^32. This range is then
    /// scaled to the number of slots.
    [[nodiscard]] std::size_t home(std::uint32_t mark) const noexcept {
        const std::uint64_t scattered = mark * std::uint32_t{0x9e3779b1};
        return static_cast<std::size_t>((scattered * marks_.size()) >> 32U);
    }

    void put(std::uint32_t mark, T& thing) {
        auto at = home(mark);
        while (marks_[at] != vacant) at = next(at);
        marks_[at] = mark;
        things_[at] = &thing;
    }

    void resize(std::size_t places) {
        // Allocates both tables before changing anything. A failed allocation then leaves the
        // object unchanged.
        Table<std::uint32_t> marks(places, vacant);
        Table<T*> things(places, nullptr);
        marks.swap(marks_);
        things.swap(things_);
        for (std::size_t at = 0; at < marks.size(); ++at) {
            if (marks[at] != vacant) put(marks[at], *things[at]);
        }
    }

    Table<std::uint32_t> marks_;  ///< The hash of the object in each slot.
    Table<T*> things_;
    std::size_t size_ = 0;
};

}  // namespace routemaster::detail
