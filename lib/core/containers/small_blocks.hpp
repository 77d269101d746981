/// @file
/// A memory pool for small blocks of bytes.

#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "core/containers/cell_pool.hpp"

namespace routemaster::detail {

/// Memory pool for blocks of bytes of any size. A small block takes its size rounded up to a
/// multiple of 8. The heap would take a multiple of 16 including a header of 8 bytes. Large blocks
/// are allocated on the heap, because these few bytes matter less there.
///
/// All blocks must be freed before the pool is destroyed. Not thread safe.
class SmallBlocks {
public:
    /// Allocates a block. Throws `std::bad_alloc` when memory is exhausted.
    [[nodiscard]] char* allocate(std::size_t bytes) {
        if (bytes > pooled_max) return new char[bytes];
        return reinterpret_cast<char*>(pool_of(bytes).take());
    }

    /// Frees a block. `bytes` must be the size passed to `allocate`.
    void free(char* block, std::size_t bytes) noexcept {
        if (bytes > pooled_max) {
            delete[] block;
        } else {
            pool_of(bytes).deallocate(reinterpret_cast<std::byte*>(block));
        }
    }

private:
    static constexpr std::size_t step = 8;
    static constexpr std::size_t pooled_max = 128;
    using Pools = std::array<CellPool, pooled_max / step>;

    template <std::size_t... N>
    static Pools pools(std::index_sequence<N...>) {
        return {{CellPool{(N + 1) * step}...}};
    }

    [[nodiscard]] CellPool& pool_of(std::size_t bytes) noexcept {
        return pools_[bytes == 0 ? 0 : (bytes - 1) / step];
    }

    Pools pools_ = pools(std::make_index_sequence<pooled_max / step>{});
};

}  // namespace routemaster::detail
