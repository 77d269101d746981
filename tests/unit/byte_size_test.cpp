#include "routemaster/byte_size.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <ostream>

using namespace routemaster;

TEST_CASE("a number of bytes may be written with a suffix, decimal or binary") {
    CHECK(parse_byte_size("0").value() == 0);
    CHECK(parse_byte_size("18446744073709551615").value() == UINT64_MAX);
    CHECK(parse_byte_size("7B").value() == 7);
    CHECK(parse_byte_size("5k").value() == 5'000);
    CHECK(parse_byte_size("5MB").value() == 5'000'000);
    CHECK(parse_byte_size("3gb").value() == 3'000'000'000);
    CHECK(parse_byte_size("2T").value() == 2'000'000'000'000);
    CHECK(parse_byte_size("1KiB").value() == 1'024);
    CHECK(parse_byte_size("2Mi").value() == std::uint64_t{2} << 20U);
    CHECK(parse_byte_size("1GiB").value() == std::uint64_t{1} << 30U);
    CHECK(parse_byte_size("1tib").value() == std::uint64_t{1} << 40U);
}

TEST_CASE("text that is not a number of bytes is refused") {
    for (const auto* text : {"", "MB", "-1", "1.5G", "5 MB", "5XB", "5MBB", "5i", "0x10", " 5",
                             "18446744073709551616", "18446744073709551615k", "20000000TiB"}) {
        CAPTURE(text);
        const auto size = parse_byte_size(text);
        REQUIRE(!size);
        CHECK(size.error().code() == Errc::invalid);
        CHECK(size.error().context().find(text) != std::string::npos);
    }
}
