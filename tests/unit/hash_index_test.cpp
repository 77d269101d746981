#include "core/containers/hash_index.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "routemaster/random.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using namespace routemaster::detail;

namespace {

struct Thing {
    std::uint64_t name;
};

/// An index, and a map with the same contents. There are only `hashes` different hashes.
struct IndexScene {
    explicit IndexScene(std::uint32_t different) : hashes{different} {}

    [[nodiscard]] std::uint32_t hash(std::uint64_t name) const {
        return static_cast<std::uint32_t>(name % hashes);
    }
    [[nodiscard]] const Thing* find(std::uint64_t name) const {
        return index.find(hash(name), [&](const Thing& thing) { return thing.name == name; });
    }
    void insert(std::uint64_t name) {
        things.push_back({name});
        expected[name] = &things.back();
        index.insert(hash(name), things.back());
    }
    void remove(std::uint64_t name) {
        index.remove(hash(name), *expected.at(name));
        expected.erase(name);
    }
    void check() const {
        CHECK(index.size() == expected.size());
        for (const auto& [name, thing] : expected) REQUIRE(find(name) == thing);
        std::size_t visited = 0;
        index.each([&](const Thing& thing) {
            ++visited;
            REQUIRE(expected.at(thing.name) == &thing);
        });
        CHECK(visited == expected.size());
    }

    std::uint32_t hashes;
    HashIndex<Thing> index;
    std::deque<Thing> things;
    std::map<std::uint64_t, Thing*> expected;
};

}  // namespace

TEST_CASE("an empty hash index finds no element") {
    IndexScene scene{1};
    CHECK(scene.index.empty());
    CHECK(scene.find(0) == nullptr);
    scene.insert(0);
    scene.remove(0);
    CHECK(scene.find(0) == nullptr);
    scene.check();
}

TEST_CASE("a hash index finds exactly its elements, whichever hashes collide") {
    const auto number = test::seed(7);
    ROUTEMASTER_TELL_SEED(number);
    Random random{number};
    for (const std::uint32_t hashes : {1U, 7U, 100U, UINT32_MAX}) {
        IndexScene scene{hashes};
        for (int step = 0; step < 3'000; ++step) {
            const auto name = random.below(300);
            if (scene.expected.contains(name)) {
                scene.remove(name);
                REQUIRE(scene.find(name) == nullptr);
            } else {
                REQUIRE(scene.find(name) == nullptr);
                scene.insert(name);
            }
            if (step % 100 == 0) scene.check();
        }
        scene.check();
    }
}

TEST_CASE("a hash index grows and shrinks with its elements") {
    IndexScene scene{UINT32_MAX};
    constexpr std::uint64_t many = 20'000;
    for (std::uint64_t name = 0; name < many; ++name) scene.insert(name);
    scene.check();
    for (std::uint64_t name = 0; name + 3 < many; ++name) scene.remove(name);
    scene.check();
    for (std::uint64_t name = 0; name < 100; ++name) scene.insert(name);
    scene.check();
}
