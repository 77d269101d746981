/// @file
/// An index of objects by hash: open addressing, 12 bytes per slot.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/containers/huge_page_allocator.hpp"
#include "core/containers/prefetch.hpp"

namespace routemaster::detail {

/// Finds objects by hash. Does not own objects, and never computes hashes: stores the given hash.
/// Objects must not move. While the index grows, 0.53 to 0.8 of the slots are taken: an object
/// takes 15 to 23 bytes. The order of `each` has no meaning.
///
/// Not thread safe.
template <class T>
class HashIndex {
public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

    /// The object with this hash and a true `is(object)`, or null.
    template <class Is>
    [[nodiscard]] T* find(std::uint32_t hash, Is is) const {
        if (size_ == 0) return nullptr;
        const auto mark = marked(hash);
        for (auto at = home(mark); marks_[at] != vacant; at = next(at)) {
            if (marks_[at] == mark && is(*things_[at])) return things_[at];
        }
        return nullptr;
    }

    /// Starts to load the first slots of a search into the cache. Many searches begun at once take
    /// little longer than a single search, because each reads a different part of memory.
    void fetch(std::uint32_t hash) const noexcept {
        if (size_ == 0) return;
        const auto at = home(marked(hash));
        constexpr auto line = 64 / sizeof(T*);
        prefetch(&marks_[at]);
        prefetch(&things_[at]);
        // Many objects are a few slots further on.
        prefetch(&things_[std::min(at + line, things_.size() - 1)]);
    }
    /// The first object found with this hash, or null.
    [[nodiscard]] T* guess(std::uint32_t hash) const noexcept {
        return find(hash, [](const T&) { return true; });
    }

    /// Inserts an object. It must not be in the index.
    void insert(std::uint32_t hash, T& thing) {
        if (size_ + 1 > marks_.size() / 5 * 4) resize(std::max(places_min, marks_.size() / 2 * 3));
        put(marked(hash), thing);
        ++size_;
    }

    /// Removes an object. It must be in the index.
    void remove(std::uint32_t hash, const T& thing) {
        auto hole = home(marked(hash));
        while (things_[hole] != &thing) hole = next(hole);
        // Moves up the objects behind the hole, unless the hole is before their home slots. There
        // are no slots marked as deleted, so searches do not slow down with time.
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

    /// Calls `visit` with each object. `visit` must not change the index.
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
    /// This many slots always stay, so that thousands of objects may come and go without resizing.
    static constexpr std::size_t kept_max = 4'096;

    static std::uint32_t marked(std::uint32_t hash) noexcept { return hash == vacant ? 1 : hash; }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return at + 1 == marks_.size() ? 0 : at + 1;
    }
    /// Number of steps from one slot to another.
    [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
        return to >= from ? to - from : to + marks_.size() - from;
    }

    /// The slot where a search begins. The factor, 2^32 / the golden ratio, scatters even
    /// successive numbers in the upper bits. As a fraction of 2^32, the product is the share of the
    /// slots before the home slot.
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
        // Allocates both tables first: without memory for the second, nothing changes.
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
