// The queues of a pool share its slots.

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <vector>

#include "core/jobs/work/pool/slot_shares.hpp"

using namespace routemaster;
using namespace routemaster::detail;
using Wish = SlotShares::Wish;
using Shares = std::vector<std::size_t>;

TEST_CASE("by weight, all free slots are shared between queues, and the remainder rotates") {
    SlotShares shares{{{"a", 3}, {"b", 1}}, QueueOrder::weighted};
    CHECK(shares.share({Wish::wants, Wish::wants}, 8) == Shares{6, 2});
    std::size_t a = 0;
    for (int i = 0; i < 400; ++i) a += shares.share({Wish::wants, Wish::wants}, 1)[0];
    CHECK(a == 300);
}

TEST_CASE(
    "a queue without jobs leaves its slots to the other queues, and saves no slots for later") {
    SlotShares shares{{{"a", 3}, {"b", 1}}, QueueOrder::weighted};
    for (int i = 0; i < 100; ++i) CHECK(shares.share({Wish::nothing, Wish::wants}, 2)[1] == 2);
    std::size_t a = 0;
    for (int i = 0; i < 100; ++i) a += shares.share({Wish::wants, Wish::wants}, 1)[0];
    CHECK(a == 75);
}

TEST_CASE("a queue that waits for a reply of the store keeps its share of the slots") {
    SlotShares shares{{{"a", 3}, {"b", 1}}, QueueOrder::weighted};
    // Slots become free one by one, faster than the store replies.
    std::array<std::size_t, 2> got{};
    std::array<int, 2> waits{};
    std::size_t free = 0;
    for (int i = 0; i < 10'000; ++i) {
        ++free;
        const auto wish = [&](int left) { return left > 0 ? Wish::waits : Wish::wants; };
        const std::vector<Wish> wishes{wish(waits[0]), wish(waits[1])};
        const auto given = shares.share(wishes, free);
        for (std::size_t queue : {0U, 1U}) {
            if (waits[queue] > 0) {
                --waits[queue];
            } else if (given[queue] > 0) {
                got[queue] += given[queue];
                free -= given[queue];
                waits[queue] = queue == 0 ? 3 : 1;
            }
        }
    }
    CHECK(got[0] + got[1] > 9'900);
    CHECK(static_cast<double>(got[0]) / static_cast<double>(got[1]) ==
          doctest::Approx(3).epsilon(0.02));
}

TEST_CASE("in strict order, the first queue that may have jobs gets all slots") {
    SlotShares shares{{{"a"}, {"b"}, {"c"}}, QueueOrder::strict};
    CHECK(shares.share({Wish::nothing, Wish::wants, Wish::wants}, 4) == Shares{4, 4, 0});
    CHECK(shares.share({Wish::waits, Wish::wants, Wish::wants}, 4) == Shares{4, 0, 0});
}
