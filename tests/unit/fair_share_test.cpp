#include "core/work/fair_share.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using routemaster::detail::FairShare;

namespace {

/// The shares of subscribers that take one delivery each in turn, as long as they can.
std::vector<std::size_t> shared(FairShare share, std::size_t subscribers) {
    std::vector<std::size_t> each(subscribers);
    std::size_t taken = 0;
    for (bool grew = true; grew;) {
        grew = false;
        for (auto& mine : each) {
            if (taken == share.slots || mine >= share.concurrency_max(taken)) continue;
            ++mine;
            ++taken;
            grew = true;
        }
    }
    return each;
}

}  // namespace

TEST_CASE("n subscribers with unlimited demand get a share of 8/(1 + 8n) of the deliveries each") {
    const FairShare share{1'024};
    CHECK(share.reserve() == 128);
    CHECK(shared(share, 1) == std::vector<std::size_t>{797});
    CHECK(shared(share, 2) == std::vector<std::size_t>{422, 422});
    for (const auto mine : shared(share, 10)) CHECK((mine == 88 || mine == 89));
    for (const auto mine : shared(share, 100)) CHECK((mine == 8 || mine == 9));
}

TEST_CASE("each subscriber may have one delivery under way, however little capacity is free") {
    const FairShare share{64};
    CHECK(share.concurrency_max(56) == 1);
    CHECK(share.concurrency_max(63) == 1);
    CHECK(share.concurrency_max(1'000) == 1);
    CHECK(shared(share, 100).at(63) == 1);
}

TEST_CASE("unhealthy subscribers may use all capacity except the reserve") {
    const FairShare share{64};
    CHECK(!share.too_many(56));
    CHECK(share.too_many(57));
    CHECK(!FairShare{4}.too_many(4));
}

TEST_CASE("computing the shares of deliveries does not overflow") {
    CHECK(FairShare{UINT32_MAX}.concurrency_max(0) == UINT32_MAX);
    CHECK(FairShare{0}.concurrency_max(0) == 1);
}
