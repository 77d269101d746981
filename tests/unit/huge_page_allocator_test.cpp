#include "core/containers/huge_page_allocator.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "support/mappings.hpp"

using namespace routemaster::detail;
using namespace routemaster::test;

TEST_CASE("memory in huge pages is aligned to a huge page, usable, and returned to the system") {
    std::size_t size = huge_page;
    SUBCASE("the size is one huge page") {}
    SUBCASE("the size is slightly less than one huge page") { size -= 1'000; }
    SUBCASE("the size is several huge pages") { size = 3 * huge_page; }
    SUBCASE("the size is several huge pages and a part of another") { size = 3 * huge_page + 1; }
    HugePageAllocator<char> allocator;
    // Two blocks: deallocating one must not return the memory of the other.
    char* const memory = allocator.allocate(size);
    char* const other = allocator.allocate(size);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % huge_page == 0);
    for (char* each : {memory, other}) {
        for (std::size_t at = 0; at < size; at += 1'000) {
            REQUIRE(each[at] == 0);
            each[at] = 'x';
        }
        each[size - 1] = 'x';
    }
    allocator.deallocate(memory, size);
    CHECK_FALSE(is_mapped(memory));
    CHECK_FALSE(is_mapped(memory + size - 1));
    CHECK(is_mapped(other));
    CHECK(is_mapped(other + size - 1));
    allocator.deallocate(other, size);
    CHECK_FALSE(is_mapped(other));
}

TEST_CASE("blocks of at least a huge page request huge pages, if the system has any") {
    HugePageAllocator<char> allocator;
    const auto before = huge_page_bytes();
    char* const small = allocator.allocate(huge_page / 2);
    CHECK(huge_page_bytes() == before);
    char* const large = allocator.allocate(3 * huge_page);
    CHECK(huge_page_bytes() - before == (has_huge_pages() ? 3 * huge_page : 0));
    allocator.deallocate(small, huge_page / 2);
    allocator.deallocate(large, 3 * huge_page);
    CHECK(huge_page_bytes() == before);
}

TEST_CASE("a container that grows into huge pages keeps its data") {
    std::vector<std::uint64_t, HugePageAllocator<std::uint64_t>> numbers;
    for (std::uint64_t n = 0; n < 1'000'000; ++n) numbers.push_back(n);
    for (std::uint64_t n = 0; n < numbers.size(); ++n) REQUIRE(numbers[n] == n);
    numbers.resize(10);
    numbers.shrink_to_fit();
    for (std::uint64_t n = 0; n < numbers.size(); ++n) CHECK(numbers[n] == n);
}

TEST_CASE("an allocation of an impossible size throws") {
    HugePageAllocator<std::uint64_t> allocator;
    CHECK_THROWS_AS(static_cast<void>(allocator.allocate(SIZE_MAX / 8)), std::bad_alloc);
    CHECK_THROWS_AS(static_cast<void>(allocator.allocate(SIZE_MAX / 32)), std::bad_alloc);
}
