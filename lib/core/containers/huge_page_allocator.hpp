/// @file
/// An allocator of huge pages, for large tables with random access.

#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace routemaster::detail {

/// The size of a huge page on most machines.
inline constexpr std::size_t huge_page = 2U << 20U;

/// A multiple of the page size of every supported machine.
inline constexpr std::size_t page_multiple = 64U << 10U;

/// Maps `size` bytes from the operating system, aligned to a huge page. `size` must be a multiple
/// of `page_multiple`.
///
/// @throws std::bad_alloc when memory is exhausted.
inline void* map_huge_pages(std::size_t size) {
    // Maps enough for an aligned range. The excess before and after the range is unmapped.
    auto* mapped = ::mmap(nullptr, size + huge_page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc{};
    auto* begin = static_cast<std::byte*>(mapped);
    const auto before =
        (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before > 0) ::munmap(begin, before);
    begin += before;
    ::munmap(begin + size, huge_page - before);
#ifdef MADV_HUGEPAGE
    // The error is ignored, because a system without huge pages provides small pages, which are
    // only slower.
    ::madvise(begin, size, MADV_HUGEPAGE);
#endif
    return begin;
}

/// Allocator that maps sizes of a huge page or more directly from the operating system, in huge
/// pages if available, and unmaps freed memory at once. Smaller sizes are allocated on the heap.
/// With small pages, the system would clear, map and look up each page separately. A large
/// allocation takes a few system calls, so the allocator suits long-lived data. Throws
/// `std::bad_alloc` when memory is exhausted.
///
/// Thread safety: as `std::allocator`.
template <class T>
class HugePageAllocator {
public:
    using value_type = T;

    HugePageAllocator() noexcept = default;
    template <class U>
    HugePageAllocator(const HugePageAllocator<U>&) noexcept {}

    [[nodiscard]] T* allocate(std::size_t count) {
        const auto size = mapped_size(count);
        return size == 0 ? std::allocator<T>{}.allocate(count)
                         : static_cast<T*>(map_huge_pages(size));
    }

    void deallocate(T* memory, std::size_t count) noexcept {
        const auto size = mapped_size(count);
        if (size == 0) {
            std::allocator<T>{}.deallocate(memory, count);
        } else {
            ::munmap(memory, size);
        }
    }

    friend bool operator==(HugePageAllocator, HugePageAllocator) noexcept { return true; }

private:
    /// The number of bytes to map; 0 if the allocation belongs on the heap.
    static std::size_t mapped_size(std::size_t count) {
        if (count > (SIZE_MAX - 2 * huge_page) / sizeof(T)) throw std::bad_array_new_length{};
        const auto size = (count * sizeof(T) + page_multiple - 1) / page_multiple * page_multiple;
        return size < huge_page ? 0 : size;
    }
};

}  // namespace routemaster::detail
