#include "core/containers/small_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

using routemaster::detail::SmallBlocks;

namespace {

struct Block {
    char* bytes;
    std::size_t size;

    void fill() const { std::memset(bytes, static_cast<int>(size % 251), size); }
    [[nodiscard]] bool intact() const {
        return std::all_of(bytes, bytes + size,
                           [&](char c) { return c == static_cast<char>(size % 251); });
    }
};

}  // namespace

TEST_CASE("small blocks of all sizes stay intact during further allocations") {
    SmallBlocks memory;
    std::vector<Block> blocks;
    for (int round = 0; round < 40; ++round) {
        for (std::size_t size = 0; size < 300; ++size) {
            blocks.push_back({memory.allocate(size), size});
            blocks.back().fill();
        }
        for (std::size_t n = 0; n < blocks.size(); n += 3) {
            REQUIRE(blocks[n].intact());
            memory.free(blocks[n].bytes, blocks[n].size);
            blocks[n] = blocks.back();
            blocks.pop_back();
        }
    }
    for (const auto& block : blocks) {
        REQUIRE(block.intact());
        memory.free(block.bytes, block.size);
    }
}

TEST_CASE("a small block directly follows the block before, at a multiple of eight bytes") {
    constexpr std::size_t count = 200'000;
    SmallBlocks memory;
    std::vector<char*> blocks;
    blocks.reserve(count);
    for (std::size_t n = 0; n < count; ++n) blocks.push_back(memory.allocate(25));
    std::vector<char*> in_order = blocks;
    std::sort(in_order.begin(), in_order.end());
    std::size_t adjacent = 0;
    for (std::size_t n = 1; n < count; ++n) {
        if (in_order[n] - in_order[n - 1] == 32) ++adjacent;
    }
    CHECK(adjacent > count * 99 / 100);
    for (auto* block : blocks) memory.free(block, 25);
}
