#include "routemaster/event.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "routemaster/subscription.hpp"

using namespace routemaster;

namespace {

Event valid_event() {
    return {.topic = "orders", .type = EventType::update, .url = "https://shop.example/1"};
}

/// The reason why an event is refused; empty when it is valid.
std::string refusal(const Event& event, const EventRules& rules = {}) {
    const auto checked = check(event, rules);
    if (checked) return {};
    CHECK(checked.error().code() == Errc::invalid);
    return checked.error().context();
}

}  // namespace

TEST_CASE("the names of event types are as in the wire format") {
    for (const auto type :
         {EventType::create, EventType::update, EventType::remove, EventType::noop}) {
        CHECK(event_type(to_string(type)) == type);
    }
    CHECK(to_string(EventType::remove) == "delete");
    for (const auto* word : {"", "remove", "Create", "noop ", "?"}) {
        CHECK_FALSE(event_type(word).has_value());
    }
}

TEST_CASE("an event is checked field by field, and the error names the field") {
    CHECK(refusal(valid_event()).empty());
    auto event = valid_event();
    event.topic = "Orders";
    CHECK(refusal(event).starts_with("topic: must be 1 to 64 of a-z, 0-9"));
    event = valid_event();
    event.url = "shop.example/1";
    CHECK(refusal(event) == "url: URL has no scheme");
    event = valid_event();
    event.data = Value{"text"};
    CHECK(refusal(event) == "data: must be an object");
    event.data = Value{};
    CHECK(refusal(event) == "data: must be an object");
    event.data = Value{Value::Map{}};
    CHECK(refusal(event).empty());
}

TEST_CASE("the rules of the bus decide which topics and URLs events may have") {
    auto event = valid_event();
    event.topic = "orders.v2";
    CHECK(refusal(event).empty());
    CHECK(refusal(event, {.topics = TopicRule::ruby}) == "topic: must be 1 to 64 of a-z and _");

    event = valid_event();
    for (const char* url : {"http://shop.example/1", "urn:order:1", "https://shop.example/?id=1"}) {
        event.url = url;
        CHECK_MESSAGE(refusal(event).empty(), url);
        CHECK_MESSAGE(refusal(event, {.urls = UrlRule::https}).starts_with("url: URL "), url);
    }
    event.url = "https://shop.example/%";
    CHECK(refusal(event).starts_with("url: URL is malformed"));
}

TEST_CASE("an event with data needs no URL when any URL is allowed") {
    auto event = valid_event();
    event.url.clear();
    CHECK(refusal(event) == "url: URL is missing");
    event.data = Value{Value::Map{{"id", 42}}};
    CHECK(refusal(event).empty());
    CHECK(refusal(event, {.urls = UrlRule::https}) == "url: URL is missing");
}

TEST_CASE("data that JSON cannot represent is refused at any depth") {
    const auto with_data = [](Value value) {
        auto event = valid_event();
        event.data = Value{Value::Map{{"a", Value::Array{1, Value::Map{{"b", std::move(value)}}}}}};
        return refusal(event);
    };
    for (const char* text : {"\xff", "caf\xe9", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82"}) {
        CHECK(with_data(text) == "data: contains text that is not UTF-8");
        CHECK(with_data(Value::Map{{text, 1}}) == "data: contains a key that is not UTF-8");
    }
    CHECK(with_data("caf\xc3\xa9 \xf0\x9f\x98\x80").empty());
    CHECK(with_data(Value::Map{{"\xc3\xa9", 1}}).empty());
    CHECK(with_data(std::numeric_limits<double>::infinity()) ==
          "data: contains a number that is not finite");
    CHECK(with_data(std::numeric_limits<double>::quiet_NaN()) ==
          "data: contains a number that is not finite");
    CHECK(with_data(1e300).empty());

    auto event = valid_event();
    Value deep{Value::Map{}};
    for (std::size_t depth = 1; depth < event_data_depth_max; ++depth) {
        deep = Value{Value::Map{{"d", std::move(deep)}}};
    }
    event.data = deep;
    CHECK(refusal(event).empty());
    event.data = Value{Value::Map{{"d", std::move(deep)}}};
    CHECK(refusal(event) == "data: is nested too deep");
}

TEST_CASE("data with a duplicate key is refused at any depth, and the error names the key") {
    const auto with_data = [](Value::Map map) {
        auto event = valid_event();
        event.data = Value{Value::Map{{"a", Value::Array{1, Value{std::move(map)}}}, {"b", 2}}};
        return refusal(event);
    };
    CHECK(with_data({{"a", 1}, {"b", 2}, {"", 3}}).empty());
    CHECK(with_data({{"x", 1}, {"id", 2}, {"id", 2}}) ==
          "data: contains the key \"id\" more than once");
    CHECK(with_data({{"", 1}, {"", 2}}) == "data: contains the key \"\" more than once");
    Value::Map many;
    for (int i = 0; i < 1'000; ++i) many.emplace_back(std::to_string(i), i);
    CHECK(with_data(many).empty());
    many.emplace_back("7", 0);
    CHECK(with_data(many) == "data: contains the key \"7\" more than once");
    CHECK(with_data({{std::string(100, 'k'), 1}, {std::string(100, 'k'), 2}}) ==
          "data: contains the key \"" + std::string(64, 'k') + "\" more than once");
    auto event = valid_event();
    event.data = Value{Value::Map{{"id", 1}, {"id", 2}}};
    CHECK(refusal(event) == "data: contains the key \"id\" more than once");
}

TEST_CASE("an event without a type does not compile") {
    // An omitted last member of an aggregate would get its default, if it had one.
    CHECK(!std::is_default_constructible_v<Event>);
    CHECK(!std::is_default_constructible_v<Required<EventType>>);
}

TEST_CASE("the numbers and the uuid of a subscription are checked, and the error names the field") {
    const auto field = [](const SubscribeOptions& options) {
        const auto checked = check(options);
        if (checked) return std::string{"good"};
        return checked.error().context().substr(0, checked.error().context().find(':'));
    };
    const std::string callback = "https://x.example/";
    CHECK(field({.callback = callback}) == "good");
    CHECK(field({.callback = callback, .timeout = Duration{0}}) == "good");
    CHECK(field({.callback = callback, .timeout = subscription_timeout_max}) == "good");
    CHECK(field({.callback = callback, .timeout = Duration{-1}}) == "timeout");
    CHECK(field({.callback = callback, .timeout = Duration{3'600'001}}) == "timeout");
    CHECK(field({.callback = callback, .max_events = 1, .max_in_flight = 1}) == "good");
    CHECK(field({.callback = callback, .max_events = 0}) == "max");
    CHECK(field({.callback = callback, .max_in_flight = 0}) == "max_in_flight");
    CHECK(field({.callback = callback, .uuid = std::string(uuid_length_max, 'u')}) == "good");
    CHECK(field({.callback = callback, .uuid = std::string(uuid_length_max + 1, 'u')}) == "uuid");
    CHECK(field({.callback = callback, .uuid = "a\nb"}) == "uuid");
    CHECK(field({.callback = callback, .uuid = "caf\xe9"}) == "uuid");
    CHECK(field({.callback = callback, .uuid = "caf\xc3\xa9"}) == "good");
}
