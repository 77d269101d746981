/// @file
/// Memory for many small blocks of bytes.

#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "core/containers/cell_pool.hpp"

namespace routemaster::detail {

/// Blocks of bytes. A small block takes its size rounded up to a multiple of 8, and nothing else; a
/// block from the heap takes a multiple of 16, with a header of 8 bytes. Large blocks come from the
/// heap, where these few bytes matter less.
///
/// All blocks must be freed before the end of the object. Not thread safe.
class SmallBlocks {
public:
    /// Throws `std::bad_alloc` without memory.
    [[nodiscard]] char* allocate(std::size_t bytes) {
        if (bytes > pooled_max) return new char[bytes];
        return reinterpret_cast<char*>(pool_of(bytes).take());
    }

    /// `bytes` is the allocated size.
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
