#include "routemaster/codec/delivery_body.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "routemaster/codec/json.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "support/example_events.hpp"
#include "support/hex.hpp"
#include "support/random_value.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using routemaster::test::hex;

namespace {

using test::cat;

MessageList messages(std::initializer_list<std::string> list) {
    MessageList messages;
    for (const auto& message : list) messages.append(message);
    return messages;
}

/// The JSON of one event, with its time set to 0.
std::string timeless(std::string json) {
    const auto start = json.find("\"t\":");
    return json.replace(start, json.find_first_of(",}", start) - start, "\"t\":0");
}

/// The expected JSON of an event, built by independent code.
Value as_delivered(const Event& event) {
    Value::Map map{{"topic", event.topic},
                   {"type", to_string(event.type)},
                   {"url", event.url},
                   {"t", to_milliseconds(event.timestamp.value())}};
    if (event.data) map.emplace_back("data", *event.data);
    return map;
}

/// Appends JSON with numbers in Ruby Routemaster's format.
void append_delivered(std::string& out, const Value& value) {
    if (const auto* real = value.get_if<double>()) return append_json_number(out, *real);
    if (const auto* array = value.get_if<Value::Array>()) {
        out += '[';
        for (const auto& item : *array) {
            if (&item != &array->front()) out += ',';
            append_delivered(out, item);
        }
        out += ']';
    } else if (const auto* map = value.get_if<Value::Map>()) {
        out += '{';
        for (const auto& field : *map) {
            if (&field != &map->front()) out += ',';
            append_json_text(out, field.first);
            out += ':';
            append_delivered(out, field.second);
        }
        out += '}';
    } else {
        append_json(out, value);
    }
}

}  // namespace

TEST_CASE("a batch is delivered in the format of Ruby Routemaster") {
    const auto body = delivery_body(messages({encode_message(cat, TimePoint{})}));
    CHECK(body.json == R"([{"topic":"cats","type":"create",)"
                       R"("url":"https://example.com/cats/1","t":1795222853691}])");
    CHECK(body.json.size() == 87);
    CHECK(body.events == 1);
    CHECK(body.undecodable == 0);
}

TEST_CASE("an event's data is the last field of its JSON, even if empty, and is left out if nil") {
    Event with_data = cat;
    with_data.data = Value{Value::Map{{"a", Value::Array{1, 2.5, Value{}}}, {"é", "\""}}};
    Event with_empty = cat;
    with_empty.data = Value{Value::Map{}};
    const auto body = delivery_body(
        messages({encode_message(with_data, TimePoint{}), encode_message(cat, TimePoint{}),
                  encode_message(with_empty, TimePoint{})}));
    const std::string plain =
        R"({"topic":"cats","type":"create","url":"https://example.com/cats/1","t":1795222853691)";
    CHECK(body.json == "[" + plain + R"(,"data":{"a":[1,2.5,null],"é":"\""}},)" + plain + "}," +
                           plain + R"(,"data":{}}])");
    CHECK(body.events == 3);
}

TEST_CASE("an event without a URL is delivered, and decodes to the original event") {
    Event event = cat;
    event.url.clear();
    event.data = Value{Value::Map{{"id", 42}}};
    const auto encoded = encode_message(event, TimePoint{});
    const auto body = delivery_body(messages({encoded}));
    CHECK(body.json ==
          R"([{"topic":"cats","type":"create","url":"","t":1795222853691,"data":{"id":42}}])");
    CHECK(decode_message(encoded) == event);
}

TEST_CASE("a batch of undecodable messages is delivered as an empty array") {
    CHECK(delivery_body({}).json == "[]");
    const auto body = delivery_body(messages({hex("92 a170 82 a174 01 a164 c0"),  // ping
                                              hex("92 a16b 81 a174 01"),          // kill
                                              hex("92 a178 80"),                  // unknown
                                              "garbage", "", hex("92 a165 c0")}));
    CHECK(body.json == "[]");
    CHECK(body.events == 0);
    CHECK(body.undecodable == 4);
}

TEST_CASE("undecodable messages are left out of the delivered body") {
    const auto encoded = encode_message(cat, TimePoint{});
    const auto one = delivery_body(messages({encoded})).json;
    const auto body = delivery_body(
        messages({encoded.substr(0, 20), encoded, encoded.substr(0, encoded.size() - 1), encoded}));
    const std::string event = one.substr(1, one.size() - 2);
    CHECK(body.json == "[" + event + "," + event + "]");
    CHECK(body.events == 2);
    CHECK(body.undecodable == 2);
}

TEST_CASE("the truncated data of an event does not affect the next event") {
    Event with_data = cat;
    with_data.data = Value{Value::Map{{"a", Value::Array{1, 2, 3}}}};
    const auto encoded = encode_message(with_data, TimePoint{});
    const auto body = delivery_body(messages(
        {encoded.substr(0, encoded.size() - 1), encoded, encode_message(cat, TimePoint{})}));
    CHECK(body.json.find(R"("data":{"a":[1,2,3]}},{)") != std::string::npos);
    CHECK(body.json.ends_with(R"("t":1795222853691}])"));
    CHECK(body.undecodable == 1);
}

TEST_CASE("timestamps are printed in delivered bodies as they were encoded") {
    const auto time = [](const Value& value) {
        const auto fields = hex("92 a165 84 a16f a163 a179 a46e6f6f70 a175 a175 a174");
        const auto json = delivery_body(messages({fields + encode(value)})).json;
        return json.substr(std::min(json.size(), json.find("\"t\":")));
    };
    CHECK(time(1795222839773.5) == "\"t\":1795222839773.5}]");
    CHECK(time(1e15) == "\"t\":1000000000000000.0}]");
    CHECK(time(UINT64_MAX) == "\"t\":18446744073709551615}]");
    CHECK(time(-1) == "\"t\":-1}]");
    CHECK(time(std::numeric_limits<double>::quiet_NaN()) == "");
    CHECK(time({}) == "");
    CHECK(time("1") == "");
}

TEST_CASE("the delivered body equals the JSON of the decoded events") {
    const auto seed = test::seed(6);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    for (int i = 0; i < 1'000; ++i) {
        MessageList list;
        Value::Array expected;
        const auto size = random.below(5);
        for (std::uint64_t j = 0; j < size; ++j) {
            const auto event = test::random_event(random);
            list.append(encode_message(event, TimePoint{}));
            expected.push_back(as_delivered(event));
        }
        std::string text;
        append_delivered(text, Value{expected});
        const auto body = delivery_body(list);
        REQUIRE(body.json == text);
        REQUIRE(body.events == size);
    }
}

TEST_CASE("damaged messages are delivered as decoded, or left out") {
    const auto seed = test::seed(8);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    int decoded = 0;
    for (int i = 0; i < 8'000; ++i) {
        auto message = encode_message(test::random_event(random), TimePoint{});
        // Changes the first bytes, which contain the structure, as often as the rest: most bytes
        // belong to the URL and the data.
        const auto reach = random.below(2) == 0 ? message.size() : 16;
        message[random.below(reach)] = static_cast<char>(random.below(256));
        const auto body = delivery_body(messages({message}));
        const auto event = decode_message(message);
        REQUIRE(body.events == (event ? 1 : 0));
        if (!event) continue;
        std::string expected;
        append_delivered(expected, Value{Value::Array{as_delivered(*event)}});
        // Times are delivered unchanged, but decoded as whole milliseconds.
        REQUIRE(parse_json(timeless(body.json)).value() == parse_json(timeless(expected)).value());
        ++decoded;
    }
    CHECK(decoded > 2'000);
}

TEST_CASE("any random messages make a valid JSON body") {
    const auto seed = test::seed(7);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    for (int i = 0; i < 5'000; ++i) {
        MessageList list;
        list.append(test::random_bytes(random, 30));
        auto message = encode_message(test::random_event(random), TimePoint{});
        message[random.below(message.size())] = static_cast<char>(random.below(256));
        list.append(message);
        const auto body = delivery_body(list);
        const auto parsed = parse_json(body.json);
        REQUIRE(parsed);
        REQUIRE(parsed->get_if<Value::Array>()->size() == body.events);
        REQUIRE(body.events + body.undecodable <= list.size());
        const auto decodable = std::count_if(
            list.begin(), list.end(), [](auto bytes) { return decode_message(bytes).has_value(); });
        REQUIRE(static_cast<std::size_t>(decodable) == body.events);
    }
}
