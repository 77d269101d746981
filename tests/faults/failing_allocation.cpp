#include "failing_allocation.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t> left{0};  // The allocations until the failing one; 0 for no failure.
std::atomic<bool> other_threads{false};
thread_local bool this_thread = false;  // Whether this thread made the `FailingAllocation`.

bool fails() noexcept {
    if (left.load(std::memory_order_relaxed) <= 0) return false;
    if (this_thread == other_threads.load(std::memory_order_relaxed)) return false;
    return left.fetch_sub(1) == 1;
}

void* allocate(std::size_t size, std::size_t alignment) {
    if (fails()) throw std::bad_alloc{};
    void* const bytes =
        alignment <= alignof(std::max_align_t)
            ? std::malloc(size)
            : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (bytes == nullptr) throw std::bad_alloc{};
    return bytes;
}

void* allocate_or_null(std::size_t size) noexcept {
    try {
        return allocate(size, 1);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, 1); }
void* operator new[](std::size_t size) { return allocate(size, 1); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
    return allocate_or_null(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* bytes) noexcept { std::free(bytes); }
void operator delete[](void* bytes) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete[](void* bytes, std::size_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::align_val_t) noexcept { std::free(bytes); }
void operator delete(void* bytes, std::size_t, std::align_val_t) noexcept { std::free(bytes); }

namespace routemaster::test {

FailingAllocation::FailingAllocation(Allocations whose, std::uint64_t n) {
    this_thread = true;
    other_threads = whose == Allocations::of_other_threads;
    left = static_cast<std::int64_t>(n);
}

FailingAllocation::~FailingAllocation() {
    left = 0;
    this_thread = false;
}

bool FailingAllocation::happened() const noexcept { return left <= 0; }

}  // namespace routemaster::test
