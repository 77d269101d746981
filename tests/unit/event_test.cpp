#include "routemaster/event.hpp"

#include <doctest/doctest.h>

#include <string>

#include "routemaster/subscription.hpp"

using namespace routemaster;

namespace {

Event an_event() {
    return {.topic = "orders", .type = EventType::update, .url = "https://shop.example/1"};
}

}  // namespace

TEST_CASE("event types have the words of the wire") {
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
    CHECK(check(an_event()).has_value());
    const auto refused = [](const Event& event, std::string_view field) {
        const auto checked = check(event);
        REQUIRE_FALSE(checked.has_value());
        CHECK(checked.error().code() == Errc::invalid);
        CHECK(checked.error().context().starts_with(std::string{field} + ":"));
    };
    auto event = an_event();
    event.topic = "Orders";
    refused(event, "topic");
    event = an_event();
    event.url = "http://shop.example/1";
    refused(event, "url");
    event = an_event();
    event.data = Value{"text"};
    refused(event, "data");
    event.data = Value{};
    refused(event, "data");
    event.data = Value{Value::Map{}};
    CHECK(check(event).has_value());
}

TEST_CASE("the numbers of a subscription are checked, and the error names the field") {
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
}
