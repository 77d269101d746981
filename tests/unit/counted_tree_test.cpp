#include "core/containers/counted_tree.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>

#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

std::size_t entries_looked_at = 0;

/// A number that counts how often it is compared.
struct LookedAtNumber {
    std::uint64_t value;

    friend bool operator<(const LookedAtNumber& a, const LookedAtNumber& b) {
        ++entries_looked_at;
        return a.value < b.value;
    }
};

std::size_t count_below(const CountedTree<LookedAtNumber>& tree, std::uint64_t bound) {
    return tree.count([bound](const LookedAtNumber& any) {
        ++entries_looked_at;
        return any.value < bound;
    });
}

/// A tree, and a set with the same contents.
struct TreeScene {
    void insert(std::uint64_t value) {
        if (expected.insert(value).second) tree.insert({value});
    }
    void remove(std::uint64_t value) {
        if (expected.erase(value) > 0) tree.remove({value});
    }
    void check(std::uint64_t bound) const {
        REQUIRE(tree.size() == expected.size());
        REQUIRE(tree.empty() == expected.empty());
        if (!expected.empty()) REQUIRE(tree.first().value == *expected.begin());
        const auto below = std::distance(expected.begin(), expected.lower_bound(bound));
        REQUIRE(count_below(tree, bound) == static_cast<std::size_t>(below));
        auto next = expected.lower_bound(bound);
        int left = 300;
        tree.visit_from([bound](const LookedAtNumber& any) { return any.value < bound; },
                        [&](const LookedAtNumber& any) {
                            REQUIRE(next != expected.end());
                            REQUIRE(any.value == *next++);
                            return --left > 0;
                        });
        REQUIRE((left == 0 || next == expected.end()));
    }

    CountedTree<LookedAtNumber> tree;
    std::set<std::uint64_t> expected;
};

}  // namespace

TEST_CASE("a counted tree agrees with a set, whatever is added and removed") {
    const auto number = test::seed(5);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    TreeScene scene;
    scene.check(0);
    for (const std::uint64_t most : {50U, 5'000U, 30'000U}) {
        // The tree first grows, and then shrinks.
        for (const std::uint64_t added : {90U, 10U}) {
            for (int step = 0; step < 20'000; ++step) {
                const auto value = random.below(most);
                random.below(100) < added ? scene.insert(value) : scene.remove(value);
                if (step % 50 == 0) scene.check(random.below(most + 2));
            }
        }
        while (!scene.expected.empty()) {
            scene.remove(*scene.expected.begin());
            if (scene.expected.size() % 50 == 0) scene.check(random.below(most));
        }
        scene.check(most);
    }
}

TEST_CASE("a counted tree counts values inserted in ascending or descending order") {
    constexpr std::uint64_t count = 20'000;
    TreeScene forwards;
    TreeScene backwards;
    for (std::uint64_t value = 0; value < count; ++value) {
        forwards.insert(value);
        backwards.insert(count - value);
    }
    for (std::uint64_t bound = 0; bound <= count; bound += 97) {
        forwards.check(bound);
        backwards.check(bound);
    }
    while (!forwards.expected.empty()) forwards.remove(*forwards.expected.rbegin());
    while (!backwards.expected.empty()) backwards.remove(*backwards.expected.rbegin());
    forwards.check(1);
    backwards.check(1);
}

TEST_CASE("every operation of a large counted tree visits only a few entries") {
    constexpr std::uint64_t count = 100'000;
    constexpr std::size_t few = 100;
    TreeScene scene;
    const auto number = test::seed(6);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    while (scene.expected.size() < count) scene.insert(random.below(UINT64_MAX));
    const auto looks = [](auto act) {
        const auto before = entries_looked_at;
        act();
        return entries_looked_at - before;
    };
    for (int n = 0; n < 1'000; ++n) {
        const auto value = random.below(UINT64_MAX);
        CHECK(looks([&] { static_cast<void>(count_below(scene.tree, value)); }) < few);
        CHECK(looks([&] { scene.insert(value); }) < few);
        const auto least = *scene.expected.begin();
        CHECK(looks([&] { scene.remove(least); }) < few);
    }
    CHECK(looks([&] { CHECK(count_below(scene.tree, UINT64_MAX) == count); }) < few);
}
