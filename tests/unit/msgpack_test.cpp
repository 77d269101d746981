#include "routemaster/codec/msgpack.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "support/example_events.hpp"
#include "support/hex.hpp"
#include "support/random_value.hpp"
#include "support/seed.hpp"

using namespace routemaster;
using routemaster::test::hex;

namespace {

using test::cat;

// The message of `cat` as Ruby Routemaster encodes it.
const std::string cat_message = hex("92 a165 85 a174 cf000001a1fb9ed83b a16f a463617473"
                                    "a179 a6637265617465 a175 ba") +
                                "https://example.com/cats/1" + hex("a164 c0");

/// A message of `cat`, with its fields given as bytes.
std::string message(std::string_view count_and_fields, std::string_view kind = "a165") {
    return hex("92") + hex(kind) + hex(count_and_fields);
}

// Fields as bytes, in hexadecimal.
const std::string time_field = "a174 01";
const std::string topic_field = "a16f a163";
const std::string type_field = "a179 a46e6f6f70";
const std::string url_field = "a175 a175";

/// Bytes that resemble a message: some bytes of an encoded message are changed, and some removed.
std::string mutated(Random& random, std::string bytes) {
    for (auto changes = random.below(4); changes != 0; --changes) {
        bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    if (random.below(3) == 0) bytes.resize(random.below(bytes.size() + 1));
    return bytes;
}

}  // namespace

TEST_CASE("an event is encoded in the format of Ruby Routemaster") {
    CHECK(encode_message(cat, TimePoint{}) == cat_message);
    Event now = cat;
    now.timestamp.reset();
    CHECK(encode_message(now, *cat.timestamp) == cat_message);
}

TEST_CASE("the data of an event is in the last field of its message") {
    Event event = cat;
    event.data = Value{Value::Map{{"id", 42}, {"ok", true}}};
    const std::string expected =
        cat_message.substr(0, cat_message.size() - 1) + hex("82 a26964 2a a26f6b c3");
    CHECK(encode_message(event, TimePoint{}) == expected);
    CHECK(decode_message(expected) == event);
}

TEST_CASE("an encoded event decodes to the original") { CHECK(decode_message(cat_message) == cat); }

TEST_CASE("fields of a message may be in any order, next to unknown fields, and without data") {
    const auto event = decode_message(message("85" + url_field + "a17a 93 01 81a16102 90" +
                                              type_field + time_field + topic_field));
    REQUIRE(event);
    CHECK(event->topic == "c");
    CHECK(event->type == EventType::noop);
    CHECK(event->url == "u");
    CHECK(event->timestamp == from_milliseconds(1));
    CHECK_FALSE(event->data);
}

TEST_CASE("of duplicate fields of a message, the last counts") {
    const auto event =
        decode_message(message("87" + time_field + topic_field + type_field + url_field +
                               "a164 81 a161 01"  // d: {a: 1}
                               "a164 81 a162 02"  // d: {b: 2}
                               "a16f a164"));     // o: "d"
    REQUIRE(event);
    CHECK(event->topic == "d");
    CHECK(event->data == Value{Value::Map{{"b", 2}}});
}

TEST_CASE("timestamps of a message may have any number format, and are rounded to milliseconds") {
    const auto time = [](std::string_view bytes) {
        const auto event = decode_message(
            message("84" + topic_field + type_field + url_field + "a174" + std::string{bytes}));
        return event ? event->timestamp : std::nullopt;
    };
    CHECK(time("00") == from_milliseconds(0));
    CHECK(time("ff") == from_milliseconds(-1));
    CHECK(time("cc ff") == from_milliseconds(255));
    CHECK(time("d3 ffffffff00000000") == from_milliseconds(-4294967296));
    CHECK(time("ca 3fc00000") == from_milliseconds(2));          // 1.5f
    CHECK(time("cb 3ff7ffffffffffff") == from_milliseconds(1));  // just below 1.5
    CHECK(time("cf ffffffffffffffff") == never);
    CHECK(time("cb 7e37e43c8800759c") == never);             // 1e300
    CHECK(time("cb fe37e43c8800759c") == TimePoint::min());  // -1e300
    CHECK_FALSE(time("cb 7ff8000000000000"));                // not a number
    CHECK_FALSE(time("cb 7ff0000000000000"));                // infinity
    CHECK_FALSE(time("c0"));
    CHECK_FALSE(time("a131"));
}

TEST_CASE("decoding an invalid encoded event returns no event") {
    const std::string sound = time_field + topic_field + type_field + url_field;
    REQUIRE(decode_message(message("84" + sound)));
    CHECK_FALSE(decode_message(""));
    CHECK_FALSE(decode_message(message("84" + sound, "a170")));  // kind p
    CHECK_FALSE(decode_message(message("84" + sound, "a16b")));  // kind k
    CHECK_FALSE(decode_message(message("84" + sound, "a178")));  // kind x
    CHECK_FALSE(decode_message(message("84" + sound, "01")));
    CHECK_FALSE(decode_message(message("c0")));
    CHECK_FALSE(decode_message(message("90")));
    CHECK_FALSE(decode_message(message("84" + sound + "00")));  // more behind it
    CHECK_FALSE(decode_message(message("83" + topic_field + type_field + url_field)));
    CHECK_FALSE(decode_message(message("83" + time_field + type_field + url_field)));
    CHECK_FALSE(decode_message(message("83" + time_field + topic_field + url_field)));
    CHECK_FALSE(decode_message(message("83" + time_field + topic_field + type_field)));
    CHECK_FALSE(decode_message(message("85" + sound + "a179 a16e")));      // type "n"
    CHECK_FALSE(decode_message(message("85" + sound + "a164 01")));        // data is a number
    CHECK_FALSE(decode_message(message("85" + sound + "a164 90")));        // data is a list
    CHECK_FALSE(decode_message(message("85" + sound + "a164 81 01 02")));  // a key is a number
    CHECK_FALSE(decode_message(message("85" + sound + "a16f 01")));        // topic is a number
    CHECK_FALSE(decode_message(message("85" + sound + "a175 81a16101")));  // URL is a map
    CHECK_FALSE(decode_message(hex("93 a165 84" + sound + "00")));         // three parts
    for (std::size_t size = 0; size < cat_message.size(); ++size) {
        CHECK_FALSE(decode_message(std::string_view{cat_message}.substr(0, size)));
    }
}

TEST_CASE("jobs are encoded in the format of Ruby Routemaster") {
    const Job batch{"batch", {"AAAAAAAAAAAAAAAAAAAB"}};
    CHECK(encode_job(batch) == hex("92 a5 6261746368 91 b4") + "AAAAAAAAAAAAAAAAAAAB");
    CHECK(encode_job({"monitor", {}}) == hex("92 a7") + "monitor" + hex("90"));
    CHECK(encode_job({"autodrop", {}}) == hex("92 a8") + "autodrop" + hex("90"));
    CHECK(encode_job({"scrub_queues", {}}) == hex("92 ac") + "scrub_queues" + hex("90"));
    CHECK(encode_job({"scrub_workers", {}}) == hex("92 ad") + "scrub_workers" + hex("90"));
    CHECK(decode_job(encode_job(batch)).value() == batch);
}

TEST_CASE("bytes that are not a job are refused as corrupted") {
    for (const auto* bytes : {"", "c0", "90", "91a161", "92a161c0", "9201 90", "93a1619090",
                              "92a161", "a161", "92a161a162", "92a16180", "92 90 a161",
                              "92 9190 90", "82 a16190 a16290", "92a16190 00", "92a161 91"}) {
        CAPTURE(bytes);
        const auto job = decode_job(hex(bytes));
        REQUIRE_FALSE(job);
        CHECK(job.error().code() == Errc::corrupted);
    }
}

TEST_CASE("counter keys are encoded in the format of Ruby Routemaster") {
    const CounterKey key{"events.published", {{"publisher", "pub"}, {"topic", "cats"}}};
    const std::string bytes = hex("92 b0") + "events.published" + hex("92 92 a9") + "publisher" +
                              hex("a3") + "pub" + hex("92 a5") + "topic" + hex("a4") + "cats";
    CHECK(encode_counter_key(key) == bytes);
    CHECK(decode_counter_key(bytes).value() == key);
    CHECK(encode_counter_key({"n", {}}) == hex("92 a16e 90"));
    const CounterKey unknown{"n", {{"q", std::nullopt}}};
    CHECK(encode_counter_key(unknown) == hex("92 a16e 91 92 a171 c0"));
    CHECK(decode_counter_key(encode_counter_key(unknown)).value() == unknown);
}

TEST_CASE("bytes that are not a counter key are refused as corrupted") {
    for (const auto* bytes : {"", "c0", "92 01 90", "92 a16e 91 a171", "92 a16e 91 92 a171 01",
                              "92 a16e 91 91 a171", "92 a16e 91 92 01 a171"}) {
        const auto key = decode_counter_key(hex(bytes));
        REQUIRE_FALSE(key);
        CHECK(key.error().code() == Errc::corrupted);
    }
}

TEST_CASE("values have their shortest MessagePack encoding, and floats stay floats") {
    const std::vector<std::pair<Value, std::string>> cases = {
        {Value{}, "c0"},
        {false, "c2"},
        {true, "c3"},
        {0, "00"},
        {127, "7f"},
        {128, "cc80"},
        {255, "ccff"},
        {256, "cd0100"},
        {65'536, "ce00010000"},
        {4'294'967'296, "cf0000000100000000"},
        {UINT64_MAX, "cfffffffffffffffff"},
        {-1, "ff"},
        {-32, "e0"},
        {-33, "d0df"},
        {-129, "d1ff7f"},
        {-32'769, "d2ffff7fff"},
        {INT64_MIN, "d38000000000000000"},
        {1.0, "cb3ff0000000000000"},
        {-0.0, "cb8000000000000000"},
        {"", "a0"},
        {"é", "a2c3a9"},
        {Value::Array{}, "90"},
        {Value::Map{}, "80"},
        {Value::Map{{"b", 1}, {"a", Value::Array{2}}}, "82 a162 01 a161 91 02"},
    };
    for (const auto& [value, digits] : cases) {
        const std::string bytes = hex(digits);
        CHECK(encode(value) == bytes);
        CHECK(encoded_size(value) == bytes.size());
        CHECK(decode_value(bytes).value() == value);
    }
    CHECK(encode(Value{std::string(31, 'x')}).starts_with(hex("bf")));
    CHECK(encode(Value{std::string(32, 'x')}).starts_with(hex("d920")));
    CHECK(encode(Value{std::string(256, 'x')}).starts_with(hex("da0100")));
    CHECK(encode(Value{std::string(65'536, 'x')}).starts_with(hex("db00010000")));
}

TEST_CASE("MessagePack binary strings and short floats are accepted, and extensions are refused") {
    CHECK(decode_value(hex("c4 02 6869")).value() == Value{"hi"});
    CHECK(decode_value(hex("ca 3fc00000")).value() == Value{1.5});
    CHECK_FALSE(decode_value(hex("d4 01 00")));
    CHECK_FALSE(decode_value(hex("c1")));
    CHECK_FALSE(decode_value(hex("81 01 02")));
    CHECK_FALSE(decode_value(hex("01 02")));
}

TEST_CASE("a duplicate key of a map keeps the last value at the position of the first") {
    CHECK(decode_value(hex("83 a161 01 a162 02 a161 03")).value() ==
          Value{Value::Map{{"a", 3}, {"b", 2}}});
}

TEST_CASE("nested MessagePack is decoded up to a limit") {
    const auto nested = [](std::size_t depth) { return std::string(depth, '\x91') + '\xc0'; };
    CHECK(decode_value(nested(msgpack_depth_max)));
    CHECK_FALSE(decode_value(nested(msgpack_depth_max + 1)));
    CHECK_FALSE(decode_value(nested(1'000'000)));
}

TEST_CASE("a MessagePack length greater than the remaining bytes allocates no memory") {
    for (const auto* bytes : {"dd ffffffff", "df ffffffff", "db ffffffff", "c6 ffffffff",
                              "c9 ffffffff 01", "dd ffffffff dd ffffffff 01", "de ffff a161"}) {
        CAPTURE(bytes);
        CHECK_FALSE(decode_value(hex(bytes)));
        CHECK_FALSE(decode_message(hex(bytes)));
        CHECK_FALSE(decode_job(hex(bytes)));
    }
}

TEST_CASE("random values, events, jobs and counter keys are equal after encoding and decoding") {
    const auto seed = test::seed(1);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    for (int i = 0; i < 2'000; ++i) {
        const Value value = test::random_value(random);
        const std::string bytes = encode(value);
        REQUIRE(decode_value(bytes).value() == value);
        REQUIRE(encoded_size(value) == bytes.size());
        const Event event = test::random_event(random);
        REQUIRE(decode_message(encode_message(event, TimePoint{})) == event);
        const Job job = test::random_job(random);
        REQUIRE(decode_job(encode_job(job)).value() == job);
        const CounterKey key = test::random_counter_key(random);
        REQUIRE(decode_counter_key(encode_counter_key(key)).value() == key);
    }
}

/// Converts a decoded value to a job; nothing when the value is no job.
std::optional<Job> job_in(const std::optional<Value>& value) {
    const auto* parts = value ? value->get_if<Value::Array>() : nullptr;
    if (parts == nullptr || parts->size() != 2) return std::nullopt;
    const auto* name = parts->front().get_if<std::string>();
    const auto* arguments = parts->back().get_if<Value::Array>();
    if (name == nullptr || arguments == nullptr) return std::nullopt;
    return Job{*name, *arguments};
}

TEST_CASE("damaged encoded jobs are decoded to other values, or refused") {
    const auto seed = test::seed(3);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    int jobs = 0;
    for (int i = 0; i < 20'000; ++i) {
        const std::string bytes = mutated(random, encode_job(test::random_job(random)));
        const auto value = decode_value(bytes);
        const auto expected = job_in(value ? std::optional{*value} : std::nullopt);
        const auto job = decode_job(bytes);
        REQUIRE(job.has_value() == expected.has_value());
        // NaN does not equal itself, so the encodings are compared.
        if (job) REQUIRE(encode_job(*job) == encode_job(*expected));
        jobs += job.has_value() ? 1 : 0;
    }
    CHECK(jobs > 1'000);
}

TEST_CASE("random and damaged MessagePack is refused, or decoded to an encodable value") {
    const auto seed = test::seed(2);
    ROUTEMASTER_TELL_SEED(seed);
    Random random{seed};
    int decoded = 0;
    for (int i = 0; i < 80'000; ++i) {
        const std::string bytes =
            random.below(2) == 0
                ? test::random_bytes(random, 40)
                : mutated(random, encode_message(test::random_event(random), TimePoint{}));
        if (const auto value = decode_value(bytes)) {
            const auto again = decode_value(encode(*value));
            REQUIRE(again);
            REQUIRE(encode(*again) == encode(*value));
            ++decoded;
        }
        if (const auto event = decode_message(bytes)) {
            REQUIRE(decode_message(encode_message(*event, TimePoint{})));
        }
        std::ignore = decode_job(bytes);
        std::ignore = decode_counter_key(bytes);
    }
    CHECK(decoded > 1'000);
}
