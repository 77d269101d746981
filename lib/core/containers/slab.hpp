/// @file
/// An object pool for one type.

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "core/containers/cell_pool.hpp"

namespace routemaster::detail {

/// Object pool: creates and destroys objects in the cells of a `CellPool`. Objects do not move.
///
/// All objects must be destroyed before the pool. Not thread safe.
template <class T>
class Slab {
public:
    template <class... Arguments>
    [[nodiscard]] T& make(Arguments&&... arguments) {
        auto* cell = cells_.take();
        try {
            return *new (cell) T(std::forward<Arguments>(arguments)...);
        } catch (...) {
            cells_.deallocate(cell);
            throw;
        }
    }

    void destroy(T& thing) noexcept {
        std::destroy_at(&thing);
        cells_.deallocate(reinterpret_cast<std::byte*>(&thing));
    }

private:
    static constexpr std::size_t alignment = std::max(alignof(T), alignof(void*));
    static_assert(alignment <= alignof(std::max_align_t));

    CellPool cells_{(sizeof(T) + alignment - 1) / alignment * alignment};
};

}  // namespace routemaster::detail
