/// @file
/// A memory pool for many objects of one size. It allocates blocks of cells instead of single
/// objects.

#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "core/containers/huge_page_allocator.hpp"
#include "core/containers/intrusive_list.hpp"
#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

/// Memory pool of cells of one size. Cells do not move. An empty block is returned to the operating
/// system. The memory of a backlog is thus freed once the backlog is worked off.
///
/// All cells must be returned before the pool is destroyed. Not thread safe.
class CellPool {
public:
    /// With cells up to this size, a block contains several cells.
    static constexpr std::size_t cell_bytes_max = page_multiple / 4;

    /// `bytes` is the size of a cell. It must be a multiple of the alignments of the content and of
    /// a pointer.
    explicit CellPool(std::size_t bytes) noexcept : bytes_{bytes} {
        ROUTEMASTER_ASSERT(bytes <= cell_bytes_max);
    }
    CellPool(const CellPool&) = delete;
    CellPool& operator=(const CellPool&) = delete;
    ~CellPool() {
        while (auto* block = all_.front()) free(*block);
    }

    /// Allocates a cell. Throws `std::bad_alloc` when memory is exhausted.
    [[nodiscard]] std::byte* take() {
        auto& block = open_.empty() ? add_block() : *open_.front();
        if (block.is_empty()) spare_ -= block.bytes;
        auto* cell = block.take(bytes_);
        if (block.is_full()) open_.remove(block);
        return cell;
    }

    void deallocate(std::byte* cell) noexcept {
        auto& block = block_of(cell);
        if (block.is_full()) open_.push_back(block);
        block.deallocate(cell);
        if (!block.is_empty()) return;
        spare_ += block.bytes;
        // Retains some empty blocks, and always the last block. Otherwise short-lived objects would
        // often allocate and free blocks.
        if (spare_ <= spare_max || open_.size() == 1) return;
        spare_ -= block.bytes;
        open_.remove(block);
        free(block);
    }

private:
    /// The first block is small, for pools with few objects. Each further block is larger, up to a
    /// limit, to keep the number of blocks low.
    static constexpr std::size_t block_bytes_min = page_multiple;
    static constexpr std::size_t doublings = 5;
    static_assert(block_bytes_min << doublings == huge_page);

    /// The largest total size of retained empty blocks, in bytes.
    static constexpr std::size_t spare_max = block_bytes_min * 4;

    struct Free {
        Free* next;
    };

    /// Header of a block. A block is aligned to a huge page and at most as large, so the address of
    /// a cell gives the address of its block.
    struct alignas(64) Block {
        Block(std::size_t all_bytes, std::size_t cell_bytes) noexcept
            : bytes{all_bytes},
              fresh{reinterpret_cast<std::byte*>(this + 1)},
              end{fresh + (bytes - sizeof(Block)) / cell_bytes * cell_bytes} {}

        [[nodiscard]] bool is_full() const noexcept { return free == nullptr && fresh == end; }
        [[nodiscard]] bool is_empty() const noexcept { return used == 0; }
        std::byte* take(std::size_t cell_bytes) noexcept {
            ++used;
            if (free == nullptr) return std::exchange(fresh, fresh + cell_bytes);
            return reinterpret_cast<std::byte*>(std::exchange(free, free->next));
        }
        void deallocate(std::byte* cell) noexcept {
            --used;
            free = new (cell) Free{free};
        }

        ListHook<Block> in_all;
        ListHook<Block> in_open;
        const std::size_t bytes;
        std::byte* fresh;  // The first cell never allocated. From here on, cells are in no list.
        std::byte* const end;
        std::size_t used = 0;
        Free* free = nullptr;
    };

    Block& add_block() {
        const auto bytes = block_bytes_min << std::min(all_.size(), doublings);
        auto& block = *new (map_huge_pages(bytes)) Block{bytes, bytes_};
        all_.push_back(block);
        open_.push_back(block);
        spare_ += bytes;
        return block;
    }

    void free(Block& block) noexcept {
        all_.remove(block);
        ::munmap(&block, block.bytes);
    }

    [[nodiscard]] static Block& block_of(std::byte* cell) noexcept {
        const auto into = reinterpret_cast<std::uintptr_t>(cell) % huge_page;
        return *reinterpret_cast<Block*>(cell - into);
    }

    std::size_t bytes_;
    std::size_t spare_ = 0;  ///< Bytes of empty blocks.
    IntrusiveList<Block, &Block::in_all> all_;
    IntrusiveList<Block, &Block::in_open> open_;
};

}  // namespace routemaster::detail
