#include "core/state/payload.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

using namespace routemaster::detail;

TEST_CASE("the hash of a payload in memory equals its hash in files") {
    CHECK(payload_hash("") == 0U);
    CHECK(payload_hash("a") == 0xd47c7cc3U);
    CHECK(payload_hash("12345678") == 0x173db5d3U);
    CHECK(payload_hash("routemaster, durable work") == 0xd76402c7U);
}

TEST_CASE("the hashes of numbered payloads differ") {
    std::set<std::uint32_t> hashes;
    for (int n = 0; n < 10'000; ++n) hashes.insert(payload_hash("job number " + std::to_string(n)));
    CHECK(hashes.size() > 9'990);
}

TEST_CASE("a payload keeps its bytes, even after eviction and loading") {
    const std::string bytes{"\x92\xa3job\0\x90", 7};
    SmallBlocks memory;
    Payload payload{memory, bytes, payload_hash(bytes)};
    CHECK(payload.text() == bytes);
    CHECK(payload.size() == 7);
    CHECK(payload.resident());
    CHECK(payload.offset() == 0);

    payload.note_offset(UINT32_MAX);
    CHECK(payload.text() == bytes);
    payload.evict(memory);
    CHECK(!payload.resident());
    CHECK(payload.offset() == UINT32_MAX);
    CHECK(payload.size() == 7);
    CHECK(payload.hash() == payload_hash(bytes));

    payload.load(memory, bytes);
    CHECK(payload.resident());
    CHECK(payload.text() == bytes);
    CHECK(payload.offset() == UINT32_MAX);
    payload.free(memory);
}

TEST_CASE("a payload is replaced by longer and shorter payloads, resident or not") {
    SmallBlocks memory;
    Payload payload{memory, "first", 7};
    payload.replace(memory, "something longer");
    CHECK(payload.text() == "something longer");
    payload.note_offset(9);
    payload.evict(memory);
    payload.replace(memory, "b");
    CHECK(payload.resident());
    CHECK(payload.text() == "b");
    CHECK(payload.size() == 1);
    CHECK(payload.offset() == 0);
    CHECK(payload.hash() == 7);
    payload.free(memory);
}
