#include "routemaster/printable_text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/codec/log_text.hpp"

using namespace routemaster;

TEST_CASE("printable text stays unchanged") {
    for (const std::string_view text :
         {"", "orders 42", "\"quoted\" \\ /", "Grüße, 你好, שלום, مرحبا, 🏴",
          "\u00a0\u200b\u200c\u200d", "\u2027\u202f\u2065\u206a\u061b\u061d\u200d\u2010"}) {
        CHECK(printable_text(text) == text);
    }
}

TEST_CASE("a space replaces each control character of a terminal or a log") {
    for (unsigned c = 0; c < 0x20; ++c) {
        CHECK(printable_text(std::string{'a', static_cast<char>(c), 'b'}) == "a b");
    }
    for (const std::string_view character :
         {"\x7f", "\u0080", "\u0085", "\u009b", "\u009f", "\u061c", "\u200e", "\u200f", "\u2028",
          "\u2029", "\u202a", "\u202b", "\u202c", "\u202d", "\u202e", "\u2066", "\u2067", "\u2068",
          "\u2069"}) {
        CAPTURE(character);
        CHECK(printable_text("a" + std::string{character} + "b") == "a b");
    }
    CHECK(printable_text("\x1b[31mred\r\n\tend") == " [31mred   end");
}

TEST_CASE("U+FFFD replaces each byte outside of UTF-8") {
    // An eight-bit terminal interprets this byte as the beginning of an escape sequence.
    CHECK(printable_text("\x9b[31m") == "\ufffd[31m");
    CHECK(printable_text("a\xff\xfe") == "a\ufffd\ufffd");
    CHECK(printable_text("\xe2\x80") == "\ufffd\ufffd");
}

TEST_CASE("a text in a log line is cut between characters, and printable") {
    CHECK(detail::log_text("short\n", 10) == "short ");
    CHECK(detail::log_text("\u202e123456789", 5) == " 12...");
    CHECK(detail::log_text("ééé", 3) == "é...");
}
