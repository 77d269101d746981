#include "routemaster/codec/json.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>
#include <string>

#include "routemaster/codec/msgpack.hpp"
#include "support/random_value.hpp"
#include "support/seed.hpp"

using namespace routemaster;

namespace {

std::string json(const Value& value) {
    std::string out;
    append_json(out, value);
    return out;
}

std::string ruby_number(double number) {
    std::string out;
    append_json_number(out, number);
    return out;
}

}  // namespace

TEST_CASE("JSON is printed compactly, and the keys of maps keep their order") {
    CHECK(json(Value::Map{{"b", Value::Array{1, Value{}, true, false, "x"}},
                          {"a", Value::Map{{"c", Value::Array{}}, {"d", Value::Map{}}}}}) ==
          R"({"b":[1,null,true,false,"x"],"a":{"c":[],"d":{}}})");
    CHECK(json(INT64_MIN) == "-9223372036854775808");
    CHECK(json(UINT64_MAX) == "18446744073709551615");
}

TEST_CASE("floats are delivered in the format of Ruby Routemaster") {
    CHECK(ruby_number(1795222839773.5) == "1795222839773.5");
    CHECK(ruby_number(1e15) == "1000000000000000.0");
    CHECK(ruby_number(1e20) == "1e+20");
    CHECK(ruby_number(1e-7) == "1e-07");
    CHECK(ruby_number(1.234567890123456) == "1.23456789012346");
    CHECK(ruby_number(0.0) == "0.0");
    CHECK(ruby_number(-0.0) == "0.0");
    CHECK(ruby_number(-2.0) == "-2.0");
    CHECK(ruby_number(0.5) == "0.5");
    CHECK(ruby_number(9223372036854775808.0) == "9.22337203685478e+18");
    CHECK(ruby_number(-9223372036854775808.0) == "-9223372036854775808.0");
    CHECK(ruby_number(123456789012345.6) == "123456789012346.0");
    CHECK(ruby_number(std::numeric_limits<double>::max()) == "1.79769313486232e+308");
    CHECK(ruby_number(5e-324) == "4.94065645841247e-324");
    CHECK(ruby_number(std::numeric_limits<double>::infinity()) == "null");
    CHECK(ruby_number(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("floats are printed such that parsing returns equal floats") {
    CHECK(json(-0.0) == "-0.0");
    CHECK(json(0.0) == "0.0");
    CHECK(json(-2.0) == "-2.0");
    CHECK(json(0.1 + 0.2) == "0.30000000000000004");
    CHECK(json(1.234567890123456) == "1.234567890123456");
    CHECK(json(123456789012345.6) == "123456789012345.6");
    CHECK(json(1e15) == "1000000000000000.0");
    CHECK(json(1e20) == "1e+20");
    CHECK(json(5e-324) == "5e-324");
    CHECK(json(9223372036854775808.0) == "9223372036854775808.0");
    CHECK(json(-9223372036854775808.0) == "-9223372036854775808.0");
    CHECK(json(std::numeric_limits<double>::max()) == "1.7976931348623157e+308");
    CHECK(json(-std::numeric_limits<double>::infinity()) == "null");
    CHECK(json(std::numeric_limits<double>::quiet_NaN()) == "null");
}

TEST_CASE("JSON strings are printed with the fewest escapes") {
    CHECK(json("a/b 'c' é € 𝄞 \x7f") == "\"a/b 'c' é € 𝄞 \x7f\"");
    CHECK(json("say \"hi\" \\ now") == R"("say \"hi\" \\ now")");
    CHECK(json(std::string{"\0\x01\n\t\x1f!", 6}) == R"("\u0000\u0001\u000a\u0009\u001f!")");
    CHECK(json(Value::Map{{"\"\n", 1}}) == R"({"\"\u000a":1})");
}

TEST_CASE("a character that needs escaping is found at any position of a string") {
    for (std::size_t size = 1; size < 40; ++size) {
        for (std::size_t at = 0; at < size; ++at) {
            std::string text(size, 'x');
            text[at] = '"';
            const std::string head(at, 'x');
            const std::string tail(size - at - 1, 'x');
            REQUIRE(json(text) == "\"" + head + "\\\"" + tail + "\"");
        }
    }
}

TEST_CASE("bytes outside of UTF-8 are printed as U+FFFD") {
    CHECK(json("a\xff"
               "b") == "\"a\uFFFDb\"");
    CHECK(json("\xc0\xaf") == "\"\uFFFD\uFFFD\"");            // overlong encoding
    CHECK(json("\xed\xa0\x80") == "\"\uFFFD\uFFFD\uFFFD\"");  // a surrogate
    CHECK(json("\xf4\x90\x80\x80") == "\"\uFFFD\uFFFD\uFFFD\uFFFD\"");
    CHECK(json("\xe2\x82") == "\"\uFFFD\uFFFD\"");  // truncated
    CHECK(json("\xe2\x82x") == "\"\uFFFD\uFFFDx\"");
    CHECK(json("\xf0\x9d\x84\x9e") == "\"\xf0\x9d\x84\x9e\"");
}

TEST_CASE("JSON strings are printed correctly, whatever bytes they have") {
    const auto seed = test::seed(3);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes = test::random_bytes(random, 30);
        const auto parsed = parse_json(json(bytes));
        REQUIRE(parsed);
        REQUIRE(parsed->get_if<std::string>() != nullptr);
    }
}

TEST_CASE("JSON is parsed into values") {
    CHECK(parse_json(R"( {"b" : [1, -2, 3.5, null, true, "x"], "a":{}} )").value() ==
          Value{Value::Map{{"b", Value::Array{1, -2, 3.5, Value{}, true, "x"}},
                           {"a", Value::Map{}}}});
    CHECK(parse_json("9223372036854775807").value() == Value{INT64_MAX});
    CHECK(parse_json("-9223372036854775808").value() == Value{INT64_MIN});
    CHECK(parse_json("18446744073709551615").value() == Value{UINT64_MAX});
    CHECK(parse_json("1e3").value() == Value{1000.0});
    CHECK(parse_json("1.0").value() == Value{1.0});
    CHECK(parse_json(R"("\u00e9\ud834\udd1e\/\n")").value() == Value{"é𝄞/\n"});
    CHECK(parse_json(R"({"^o":1,"json_class":"X"})").value() ==
          Value{Value::Map{{"^o", 1}, {"json_class", "X"}}});
}

TEST_CASE("the last value of a duplicate key in a JSON object is kept, however many there are") {
    CHECK(parse_json(R"({"a":1,"b":2,"a":3})").value() == Value{Value::Map{{"a", 3}, {"b", 2}}});
    std::string text = "{";
    for (int i = 0; i < 100'000; ++i) text += "\"" + std::to_string(i % 50'000) + "\":1,";
    text += "\"7\":2}";
    const auto value = parse_json(text).value();
    CHECK(value.get_if<Value::Map>()->size() == 50'000);
    CHECK(value.get_if<Value::Map>()->at(7) == std::pair<std::string, Value>{"7", 2});
    CHECK(value.get_if<Value::Map>()->at(49'999).first == "49999");
}

TEST_CASE("invalid JSON is refused, and the error names the position") {
    const auto problem = [](std::string_view text) {
        const auto value = parse_json(text);
        if (value) return std::string{"accepted"};
        CHECK(value.error().code() == Errc::invalid);
        return value.error().context();
    };
    CHECK(problem("[1,]") == "JSON: syntax error while parsing value - unexpected ']' at byte 4");
    CHECK(problem("[1e400]") == "JSON: a number out of range at byte 7");
    CHECK(problem("18446744073709551616") == "JSON: an integer beyond 64 bits at byte 20");
    CHECK(problem("-9223372036854775809") == "JSON: an integer beyond 64 bits at byte 20");
    CHECK(problem(std::string(65, '[')) == "JSON: nested too deep at byte 65");
    CHECK(problem("\xef\xbb\xbf{}") == "JSON: a byte order mark at byte 1");
    CHECK(problem(std::string_view{"{}\0x", 4}) == "JSON: a NUL byte at byte 3");
    for (const std::string_view text :
         {"",           " ",        "NaN",       "Infinity",     "-",
          "01",         "1.",       "+1",        "'a'",          "{'a':1}",
          "{\"a\"}",    "[1 2]",    "{}x",       "{} {}",        "[1,2",
          "{\"a\":1,}", "// c\n1",  "/* c */ 1", "\"\\ud800\"",  "\"\\udc00\"",
          "\"\\x41\"",  "\"a\nb\"", "\"\xff\"",  "\"\xc0\xaf\"", "\"a",
          "tru",        "nullx",    "\xff",      "{1:2}"}) {
        CAPTURE(text);
        const auto text_of_it = problem(text);
        CHECK(text_of_it.starts_with("JSON: "));
        CHECK(text_of_it.find(" at byte ") != std::string::npos);
        CHECK(text_of_it.size() < 160);
        CHECK(text_of_it.find('\n') == std::string::npos);
    }
    CHECK(problem(std::string(100'000, '9') + "e999999999").size() < 160);
    CHECK(problem("\"" + std::string(100'000, 'x')).size() < 160);
}

TEST_CASE("nested JSON is parsed up to a limit") {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    CHECK(parse_json(nested(json_depth_max)));
    CHECK_FALSE(parse_json(nested(json_depth_max + 1)));
    CHECK_FALSE(parse_json(std::string(1'000'000, '[')));
    CHECK_FALSE(parse_json(std::string(1'000'000, '{')));
}

TEST_CASE("random values are equal after printing and parsing") {
    const auto seed = test::seed(4);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    for (int i = 0; i < 2'000; ++i) {
        const Value value = test::random_value(random);
        const std::string text = json(value);
        CAPTURE(text);
        const auto parsed = parse_json(text);
        REQUIRE(parsed);
        REQUIRE(*parsed == value);
        REQUIRE(encode(*parsed) == encode(value));
    }
}

TEST_CASE("random and damaged JSON is refused, or parsed to a printable value") {
    const auto seed = test::seed(5);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    int parsed = 0;
    for (int i = 0; i < 10'000; ++i) {
        std::string text = json(test::random_value(random, 2));
        const auto changes = random.below(3);
        for (std::uint64_t j = 0; j < changes; ++j) {
            static constexpr std::string_view likely = "[]{}\",:\\0123456789eE+-.ntf u\xff";
            text[random.below(text.size())] = likely[random.below(likely.size())];
        }
        if (const auto value = parse_json(text)) {
            REQUIRE(parse_json(json(*value)));
            ++parsed;
        }
        std::ignore = parse_json(test::random_bytes(random, 20));
    }
    CHECK(parsed > 2'000);
}
