/// @file
/// Memory for many things of one size: blocks of cells, so that a thing needs no allocation.

#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "core/containers/huge_page_allocator.hpp"
#include "core/containers/intrusive_list.hpp"

namespace routemaster::detail {

/// Hands out cells of one size, which do not move. A block goes back to the system when its last
/// cell was returned, so that a backlog's memory is free again after it was worked off.
///
/// All cells must be returned before its end. Not thread safe.
class CellPool {
public:
    /// The size of a cell: a multiple of the alignment of what is to be in it, and of that of a
    /// pointer.
    explicit CellPool(std::size_t bytes) noexcept : bytes_{bytes} {}
    CellPool(const CellPool&) = delete;
    CellPool& operator=(const CellPool&) = delete;

    /// A cell. Throws `std::bad_alloc` when there is no memory.
    [[nodiscard]] std::byte* take() {
        auto& block = open_.empty() ? add_block() : *open_.front();
        auto* cell = block.take(bytes_);
        if (block.is_full()) open_.remove(block);
        return cell;
    }

    /// Returns a cell.
    void give_back(std::byte* cell) noexcept {
        auto& block = block_of(cell);
        if (block.is_full()) open_.push_back(block);
        block.give_back(cell);
        // One empty block stays: else a thing that comes and goes would allocate and free a block.
        if (block.is_empty() && open_.size() > 1) remove(block);
    }

private:
    /// A few things take little memory, and many take blocks that are found quickly.
    static constexpr std::size_t block_bytes_min = 16U << 10U;
    static constexpr std::size_t block_bytes_max = huge_page;

    struct Free {
        Free* next;
    };

    struct Block {
        Block(std::size_t count, std::size_t cell_bytes)
            : cells{HugePageAllocator<std::byte>{}.allocate(count * cell_bytes)},
              end{cells + count * cell_bytes},
              fresh{cells} {}
        ~Block() {
            HugePageAllocator<std::byte>{}.deallocate(cells, static_cast<std::size_t>(end - cells));
        }

        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;

        [[nodiscard]] bool is_full() const noexcept { return free == nullptr && fresh == end; }
        [[nodiscard]] bool is_empty() const noexcept { return used == 0; }
        [[nodiscard]] bool contains(const std::byte* cell) const noexcept {
            return !std::less<>{}(cell, cells) && std::less<>{}(cell, end);
        }
        std::byte* take(std::size_t cell_bytes) noexcept {
            ++used;
            if (free == nullptr) return std::exchange(fresh, fresh + cell_bytes);
            return reinterpret_cast<std::byte*>(std::exchange(free, free->next));
        }
        void give_back(std::byte* cell) noexcept {
            --used;
            free = new (cell) Free{free};
        }

        ListHook<Block> in_open;
        std::byte* const cells;
        std::byte* const end;
        std::byte* fresh;      // The first cell that was never taken; it has no link yet.
        std::size_t used = 0;  // Cells that are out.
        Free* free = nullptr;
    };
    using Blocks = std::vector<std::unique_ptr<Block>>;

    Block& add_block() {
        const auto bytes =
            std::clamp(blocks_.size() * block_bytes_min, block_bytes_min, block_bytes_max);
        auto block = std::make_unique<Block>(std::max<std::size_t>(bytes / bytes_, 8), bytes_);
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
    [[nodiscard]] Blocks::iterator after(const std::byte* cell) noexcept {
        return std::upper_bound(blocks_.begin(), blocks_.end(), cell,
                                [](const std::byte* a, const std::unique_ptr<Block>& b) {
                                    return std::less<>{}(a, b->cells);
                                });
    }

    /// Things often end in the order in which they began, so the last block is tried first.
    [[nodiscard]] Block& block_of(const std::byte* cell) noexcept {
        if (latest_ == nullptr || !latest_->contains(cell)) latest_ = std::prev(after(cell))->get();
        return *latest_;
    }

    std::size_t bytes_;
    Blocks blocks_;  ///< By address.
    Block* latest_ = nullptr;
    IntrusiveList<Block, &Block::in_open> open_;  ///< With free cells.
};

}  // namespace routemaster::detail
