#include "core/containers/huge_page_allocator.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "support/mappings.hpp"

using namespace routemaster::detail;
using namespace routemaster::test;

TEST_CASE("memory in huge pages is aligned to a huge page, usable, and returned") {
    std::size_t size = huge_page;
    SUBCASE("one page") {}
    SUBCASE("nearly one page") { size -= 1'000; }
    SUBCASE("some pages") { size = 3 * huge_page; }
    SUBCASE("some pages and a part") { size = 3 * huge_page + 1; }
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

TEST_CASE("huge pages are requested if the system has any, for blocks that fill a page") {
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

TEST_CASE("data that grows into huge pages stays intact") {
    std::vector<std::uint64_t, HugePageAllocator<std::uint64_t>> numbers;
    for (std::uint64_t n = 0; n < 1'000'000; ++n) numbers.push_back(n);
    for (std::uint64_t n = 0; n < numbers.size(); ++n) REQUIRE(numbers[n] == n);
    numbers.resize(10);
    numbers.shrink_to_fit();
    for (std::uint64_t n = 0; n < numbers.size(); ++n) CHECK(numbers[n] == n);
}

TEST_CASE("an impossible size is refused") {
    HugePageAllocator<std::uint64_t> allocator;
    CHECK_THROWS_AS(static_cast<void>(allocator.allocate(SIZE_MAX / 8)), std::bad_alloc);
    CHECK_THROWS_AS(static_cast<void>(allocator.allocate(SIZE_MAX / 32)), std::bad_alloc);
}
