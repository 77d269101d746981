#include "routemaster/publication.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/store/step.hpp"
#include "support/example_events.hpp"

using namespace routemaster;

namespace {

using test::order;
const TimePoint now = from_milliseconds(1'700'000'000'000);

Result<PublishEvent> publish(const Event& event, std::size_t data_max = event_data_max_default) {
    return publication(event, {.urls = UrlRule::https}, "shop--key", data_max, Uid{1, 2}, now);
}

/// An order whose data takes `bytes` bytes of MessagePack.
Event with_data_of(std::size_t bytes) {
    auto event = order;
    // A map with one entry: a key of one character, and a text whose length takes one byte or two.
    const std::size_t around = bytes - 5 < 256 ? 5 : 6;
    event.data = Value{Value::Map{{"k", Value{std::string(bytes - around, 'v')}}}};
    REQUIRE(encoded_size(*event.data) == bytes);
    return event;
}

/// The reason why an event is refused; empty when it is valid.
std::string refusal_of(const Event& event) {
    const auto step = publish(event);
    if (step) return {};
    CHECK(step.error().code() == Errc::invalid);
    return step.error().context();
}

}  // namespace

TEST_CASE("a published event becomes a step with the encoded event") {
    const auto step = publish(order);
    REQUIRE(step);
    CHECK(step->topic == "orders");
    CHECK(step->publisher == "shop--key");
    CHECK(step->uid == Uid{1, 2});
    CHECK(step->timestamp == now);
    CHECK(step->message == encode_message(order, now));
    const auto decoded = decode_message(step->message);
    REQUIRE(decoded);
    CHECK(decoded->timestamp == now);
}

TEST_CASE("an event with a timestamp keeps the timestamp") {
    auto event = order;
    event.timestamp = from_milliseconds(77);
    const auto step = publish(event);
    REQUIRE(step);
    CHECK(step->timestamp == from_milliseconds(77));
    CHECK(decode_message(step->message)->timestamp == from_milliseconds(77));
}

TEST_CASE("an invalid event is refused with the name of the field") {
    CHECK(refusal_of(order).empty());
    auto bad = order;
    bad.topic = "Orders";
    CHECK(refusal_of(bad).starts_with("topic:"));
    bad = order;
    bad.topic.clear();
    CHECK(refusal_of(bad).starts_with("topic:"));
    bad = order;
    bad.url = "http://shop.example/orders/42";
    CHECK(refusal_of(bad).starts_with("url:"));
    bad.url.clear();
    CHECK(refusal_of(bad).starts_with("url:"));
    bad = order;
    bad.data = Value{Value::Array{}};
    CHECK(refusal_of(bad).starts_with("data:"));
}

TEST_CASE("the data of an event may take 64 KiB of MessagePack and not a byte more") {
    CHECK(publish(with_data_of(65'536)));
    const auto refused = publish(with_data_of(65'537));
    REQUIRE(!refused);
    CHECK(refused.error().code() == Errc::invalid);
    CHECK(refused.error().context() == "data: takes 65537 bytes of MessagePack, more than 65536");
}

TEST_CASE("another limit for the data of an event can be set") {
    CHECK(publish(with_data_of(200), 200));
    CHECK(!publish(with_data_of(201), 200));
}
