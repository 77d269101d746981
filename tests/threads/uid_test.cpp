#include "routemaster/uid.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

using namespace routemaster;

TEST_CASE("the text of an id is the URL-safe Base64 of its 120 bits") {
    CHECK(Uid{}.text() == "AAAAAAAAAAAAAAAAAAAA");
    CHECK(Uid{0, 0}.text() == "AAAAAAAAAAAAAAAAAAAA");
    CHECK(Uid{UINT64_MAX, UINT64_MAX}.text() == "____________________");
    // The text has the upper 60 bits of each half. The lowest four bits are left out.
    CHECK(Uid{1U << 4U, 62U << 4U}.text() == "AAAAAAAAABAAAAAAAAA-");
    CHECK(Uid{0xfU, 0xfU} == Uid{});
    CHECK(Uid{0x0123456789abcdefU, 0xfedcba9876543210U}.text() == "ASNFZ4mrze_ty6mHZUMh");
}

TEST_CASE("an id is equal after conversion to text and back") {
    Random random{42};
    for (int i = 0; i < 1'000; ++i) {
        const Uid uid{random.next(), random.next()};
        CHECK(Uid::parse(uid.text()) == uid);
    }
}

TEST_CASE("text that is not 20 characters of the URL-safe Base64 alphabet is not an id") {
    CHECK(Uid::parse("abcdefghijklmnopqrs-").has_value());
    CHECK_FALSE(Uid::parse("").has_value());
    CHECK_FALSE(Uid::parse("abcdefghijklmnopqrs").has_value());
    CHECK_FALSE(Uid::parse("abcdefghijklmnopqrstu").has_value());
    for (const char bad : {'+', '/', '=', ' ', '\0', '\n', '\xc3'}) {
        CHECK_FALSE(Uid::parse(std::string(19, 'a') + bad).has_value());
    }
}

TEST_CASE("sibling ids differ only in their last three characters") {
    const auto family = *Uid::parse("abcdefghijklmnopqrst");
    CHECK(family.sibling(0).text() == "abcdefghijklmnopqAAA");
    CHECK(family.sibling(1).text() == "abcdefghijklmnopqAAB");
    CHECK(family.sibling((1U << 18U) - 1).text() == "abcdefghijklmnopq___");
    CHECK(family.sibling(1U << 18U) == family.sibling(0));
    std::unordered_set<Uid> siblings;
    for (std::uint32_t i = 0; i < 10'000; ++i) siblings.insert(family.sibling(i));
    CHECK(siblings.size() == 10'000);
}

TEST_CASE("ids are ordered like their texts") {
    const auto low = *Uid::parse("AAAAAAAAAAAAAAAAAAAb");
    const auto high = *Uid::parse("BAAAAAAAAAAAAAAAAAAa");
    CHECK(low < high);
    CHECK(low.text() < high.text());
}

TEST_CASE("an id source returns equal ids for equal seeds, and different ids for different seeds") {
    UidSource one{1, 2};
    UidSource same{1, 2};
    UidSource high{3, 2};
    UidSource low{1, 3};
    for (int i = 0; i < 100; ++i) {
        const auto uid = one.next();
        CHECK(same.next() == uid);
        CHECK(high.next() != uid);
        CHECK(low.next() != uid);
    }
}

TEST_CASE("an id source returns each id only once, over all threads") {
    UidSource source{7, 9};
    std::mutex mutex;
    std::unordered_set<Uid> uids;
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 2'000; ++i) {
                    const auto uid = source.next();
                    const std::lock_guard lock{mutex};
                    uids.insert(uid);
                }
            });
        }
    }
    CHECK(uids.size() == 8'000);
}
