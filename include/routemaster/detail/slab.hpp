/// @file
/// Memory for many things of one type: blocks of them, so that one thing takes no allocation.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "routemaster/detail/intrusive_list.hpp"

namespace routemaster::detail {

/// Makes and destroys things that stay where they are. A block goes back to the system when the
/// last thing in it is destroyed, so that what a backlog took is free again when it is worked off.
///
/// Whoever made a thing destroys it before the slab dies. Thread safety: none.
template <class T>
class Slab {
public:
    Slab() = default;
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;
    ~Slab() {
        while (auto* block = open_.front()) release(*block);
        while (auto* block = full_.front()) release(*block);
    }

    /// Makes a thing out of `arguments`.
    template <class... Arguments>
    [[nodiscard]] T& make(Arguments&&... arguments) {
        auto* block = open_.front();
        if (block == nullptr) {
            block = new (::operator new(sizeof(Block), alignment)) Block;
            open_.push_back(*block);
        }
        auto* cell = block->take();
        T* made = nullptr;
        try {
            made = new (cell->bytes.data()) T(std::forward<Arguments>(arguments)...);
        } catch (...) {
            block->give(cell);
            throw;
        }
        if (block->is_full()) {
            open_.remove(*block);
            full_.push_back(*block);
        }
        return *made;
    }

    /// Ends a thing that `make` made.
    void destroy(T& thing) noexcept {
        std::destroy_at(&thing);
        auto* cell = reinterpret_cast<Cell*>(&thing);
        auto& block = Block::of(cell);
        if (block.is_full()) {
            full_.remove(block);
            open_.push_back(block);
        }
        block.give(cell);
        // One that is empty stays: else a thing that comes and goes would make and free a block.
        if (block.is_empty() && open_.size() > 1) {
            release(block);
        }
    }

private:
    /// A block stands at a multiple of this, so that a cell finds it. It is a little smaller, which
    /// leaves room for what the allocator writes between two of them.
    static constexpr std::size_t block_bytes = 64U << 10U;
    static constexpr std::align_val_t alignment{block_bytes};

    union Cell {
        Cell* next;  // While it is free.
        alignas(T) std::array<std::byte, sizeof(T)> bytes;
    };

    struct Block {
        static constexpr std::size_t head_bytes = 128;
        static constexpr std::size_t cells_max = (block_bytes - head_bytes) / sizeof(Cell);
        static_assert(cells_max > 8, "things of this size had better be allocated one by one");

        ListHook<Block> place;
        std::uint32_t used = 0;   // Cells with a thing.
        std::uint32_t fresh = 0;  // Cells that were ever taken; those behind have no link yet.
        Cell* free = nullptr;
        std::array<Cell, cells_max> cells;

        Block() noexcept {}  // The cells stay as they are.

        static Block& of(Cell* cell) noexcept {
            const auto address = reinterpret_cast<std::uintptr_t>(cell);
            return *reinterpret_cast<Block*>(address & ~std::uintptr_t{block_bytes - 1});
        }
        [[nodiscard]] bool is_full() const noexcept { return used == cells_max; }
        [[nodiscard]] bool is_empty() const noexcept { return used == 0; }
        Cell* take() noexcept {
            ++used;
            return free != nullptr ? std::exchange(free, free->next) : &cells[fresh++];
        }
        void give(Cell* cell) noexcept {
            --used;
            cell->next = free;
            free = cell;
        }
    };

    void release(Block& block) noexcept {
        (block.is_full() ? full_ : open_).remove(block);
        std::destroy_at(&block);
        ::operator delete(&block, alignment);
    }

    IntrusiveList<Block, &Block::place> open_;  // With room.
    IntrusiveList<Block, &Block::place> full_;
};

}  // namespace routemaster::detail
