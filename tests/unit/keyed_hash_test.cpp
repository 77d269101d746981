#include "core/containers/keyed_hash.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <string>

using namespace routemaster::detail;

TEST_CASE("a keyed hash is computed by SipHash-1-3") {
    // Test vectors of the Rust standard library: the key 00 01 … 0f, and texts 00 01 02 ….
    const KeyedHash hash{0x0706050403020100, 0x0f0e0d0c0b0a0908};
    std::string text;
    CHECK(hash(text) == 0xabac0158050fc4dc);
    for (char byte = 0; byte < 15; ++byte) text += byte;
    CHECK(hash(text) == 0xd320d86d2a519956);
}

TEST_CASE("a keyed hash depends on the length and bytes of the text, and on the key") {
    std::set<std::uint64_t> seen;
    std::size_t texts = 0;
    for (const std::uint64_t key : {1U, 2U}) {
        const KeyedHash hash{key, 3};
        for (std::size_t length = 0; length < 40; ++length) {
            for (std::size_t changed = 0; changed <= length; ++changed) {
                std::string text(length, '\0');
                if (changed < length) text[changed] = '\1';
                seen.insert(hash(text));
                ++texts;
            }
        }
    }
    CHECK(seen.size() == texts);
}
