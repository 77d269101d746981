#include "core/containers/slab.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "support/mappings.hpp"

using namespace routemaster::detail;
using routemaster::test::is_mapped;

namespace {

/// An object as large as typical entries of a slab. Counts its instances.
struct Counted {
    static inline int alive = 0;

    explicit Counted(std::uint64_t number) : name{number} {
        if (number == UINT64_MAX) throw std::runtime_error{"no such thing"};
        filler.fill(static_cast<char>(number));
        ++alive;
    }
    ~Counted() { --alive; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    [[nodiscard]] bool is_whole() const {
        for (const char each : filler) {
            if (each != static_cast<char>(name)) return false;
        }
        return true;
    }

    std::uint64_t name;
    std::array<char, 100> filler;
};

/// An object so large that a few thousand fill the largest blocks. Most of its bytes are never
/// touched.
struct LargeThing {
    explicit LargeThing(std::uint64_t number) : name{number} {}

    std::uint64_t name;
    std::array<char, 8'000> untouched;
};

}  // namespace

TEST_CASE("elements of a slab keep their values and addresses") {
    Slab<Counted> slab;
    std::vector<Counted*> things;
    std::set<const Counted*> places;
    constexpr std::uint64_t many = 5'000;
    for (std::uint64_t n = 0; n < many; ++n) {
        things.push_back(&slab.make(n));
        places.insert(things.back());
    }
    CHECK(places.size() == many);
    CHECK(Counted::alive == many);
    // Destroys each second object, and reuses its place.
    for (std::uint64_t n = 0; n < many; n += 2) slab.destroy(*things[n]);
    for (std::uint64_t n = 0; n < many; n += 2) things[n] = &slab.make(many + n);
    for (std::uint64_t n = 0; n < many; ++n) {
        REQUIRE(things[n]->is_whole());
        REQUIRE(things[n]->name == (n % 2 == 0 ? many + n : n));
    }
    for (auto* thing : things) slab.destroy(*thing);
    CHECK(Counted::alive == 0);
}

TEST_CASE("a slab element whose constructor throws leaves its place to the next element") {
    Slab<Counted> slab;
    CHECK_THROWS(static_cast<void>(slab.make(UINT64_MAX)));
    auto& first = slab.make(1U);
    CHECK_THROWS(static_cast<void>(slab.make(UINT64_MAX)));
    auto& second = slab.make(2U);
    CHECK(first.is_whole());
    CHECK(second.is_whole());
    slab.destroy(first);
    slab.destroy(second);
    CHECK(Counted::alive == 0);
}

TEST_CASE("a slab keeps its memory while a few elements are created and destroyed together") {
    Slab<Counted> slab;
    std::vector<Counted*> things;
    for (std::uint64_t n = 0; n < 1'000; ++n) things.push_back(&slab.make(n));
    auto* const first = things.front();
    auto* const last = things.back();
    for (auto* thing : things) slab.destroy(*thing);
    CHECK(is_mapped(first));
    CHECK(is_mapped(last));
}

TEST_CASE("a slab returns the memory of many elements to the system when they are destroyed") {
    Slab<LargeThing> slab;
    std::vector<LargeThing*> things;
    for (std::uint64_t n = 0; n < 30'000; ++n) things.push_back(&slab.make(n));
    for (std::uint64_t n = 0; n < things.size(); ++n) REQUIRE(things[n]->name == n);
    auto* const one = things[things.size() - 1'000];
    CHECK(is_mapped(one));
    for (auto* thing : things) slab.destroy(*thing);
    CHECK_FALSE(is_mapped(one));
}
