/// @file
/// Memory for many objects of one type: blocks of them, so that an object needs no allocation.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/containers/huge_page_allocator.hpp"
#include "core/containers/intrusive_list.hpp"

namespace routemaster::detail {

/// Creates and destroys objects that do not move. A block goes back to the system when the last
/// object in it is destroyed, so that a backlog's memory is free again after it was worked off.
///
/// All objects must be destroyed before the slab. Not thread safe.
template <class T>
class Slab {
public:
    Slab() = default;
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    /// Creates an object from `arguments`.
    template <class... Arguments>
    [[nodiscard]] T& make(Arguments&&... arguments) {
        auto& block = open_.empty() ? add_block() : *open_.front();
        auto* cell = block.take();
        T* made = nullptr;
        try {
            made = new (cell->bytes.data()) T(std::forward<Arguments>(arguments)...);
        } catch (...) {
            block.release(cell);
            throw;
        }
        if (block.is_full()) open_.remove(block);
        return *made;
    }

    /// Destroys an object that `make` created.
    void destroy(T& thing) noexcept {
        std::destroy_at(&thing);
        auto* cell = reinterpret_cast<Cell*>(&thing);
        auto& block = block_of(cell);
        if (block.is_full()) open_.push_back(block);
        block.release(cell);
        // One empty block stays: else an object that comes and goes would allocate and free a
        // block.
        if (block.is_empty() && open_.size() > 1) remove(block);
    }

private:
    /// A few objects take little memory, and many take blocks that are found quickly.
    static constexpr std::size_t block_bytes_min = 16U << 10U;
    static constexpr std::size_t block_bytes_max = huge_page;

    union Cell {
        Cell* next;  // While it is free.
        alignas(T) std::array<std::byte, sizeof(T)> bytes;
    };

    struct Block {
        explicit Block(std::size_t count)
            : cells{HugePageAllocator<Cell>{}.allocate(count)}, size{count} {}
        ~Block() { HugePageAllocator<Cell>{}.deallocate(cells, size); }

        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;

        [[nodiscard]] bool is_full() const noexcept { return used == size; }
        [[nodiscard]] bool is_empty() const noexcept { return used == 0; }
        [[nodiscard]] bool contains(const Cell* cell) const noexcept {
            return !std::less<>{}(cell, cells) && std::less<>{}(cell, cells + size);
        }
        Cell* take() noexcept {
            ++used;
            return free != nullptr ? std::exchange(free, free->next) : &cells[fresh++];
        }
        void release(Cell* cell) noexcept {
            --used;
            cell->next = free;
            free = cell;
        }

        ListHook<Block> in_open;
        Cell* const cells;
        const std::size_t size;
        std::size_t used = 0;   // Cells with an object.
        std::size_t fresh = 0;  // Cells that were ever taken; those behind have no link yet.
        Cell* free = nullptr;
    };
    using Blocks = std::vector<std::unique_ptr<Block>>;

    Block& add_block() {
        const auto bytes =
            std::clamp(blocks_.size() * block_bytes_min, block_bytes_min, block_bytes_max);
        auto block = std::make_unique<Block>(std::max<std::size_t>(bytes / sizeof(Cell), 8));
        auto& added = *block;
        blocks_.insert(after(added.cells), std::move(block));
        open_.push_back(added);
        return added;
    }

    void remove(Block& block) noexcept {
        open_.remove(block);
        if (latest_ == &block) latest_ = nullptr;
        blocks_.erase(after(block.cells) - 1);
    }

    /// The first block behind an address.
    [[nodiscard]] typename Blocks::iterator after(const Cell* cell) noexcept {
        return std::upper_bound(blocks_.begin(), blocks_.end(), cell,
                                [](const Cell* a, const std::unique_ptr<Block>& b) {
                                    return std::less<>{}(a, b->cells);
                                });
    }

    /// Objects are often destroyed in the order they were created, so the last block is tried
    /// first.
    [[nodiscard]] Block& block_of(const Cell* cell) noexcept {
        if (latest_ == nullptr || !latest_->contains(cell)) latest_ = std::prev(after(cell))->get();
        return *latest_;
    }

    Blocks blocks_;  ///< By address.
    Block* latest_ = nullptr;
    IntrusiveList<Block, &Block::in_open> open_;  ///< With free cells.
};

}  // namespace routemaster::detail
