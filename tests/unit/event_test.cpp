#include "routemaster/event.hpp"

#include <doctest/doctest.h>

#include <string>

#include "routemaster/subscription.hpp"

using namespace routemaster;

namespace {

/// What `check_url` has to say, after the name of the field; "good" when nothing.
std::string verdict(std::string_view url, bool allow_http = false) {
    const auto checked = check_url(url, "url", allow_http);
    if (checked) return "good";
    CHECK(checked.error().code() == Errc::invalid);
    REQUIRE(checked.error().context().starts_with("url: "));
    return checked.error().context().substr(5);
}

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

TEST_CASE("URLs that the original takes are taken") {
    for (const auto* url :
         {"https://shop.example/orders/42", "HTTPS://shop.example/", "https://shop.example",
          "https://user:password@shop.example:8443/a#fragment", "https://[::1]:1/",
          "https://127.0.0.1/%20"}) {
        CHECK_MESSAGE(verdict(url) == "good", url);
    }
}

TEST_CASE("URLs are refused with the original's words") {
    CHECK(verdict("") == "URL is missing");
    CHECK(verdict("http://shop.example/") == "URL is not HTTPS");
    CHECK(verdict("shop.example") == "URL is not HTTPS");
    CHECK(verdict("https:/shop.example") == "URL is not HTTPS");
    CHECK(verdict("https://shop.example/?") == "URL has query string");
    CHECK(verdict("https://shop.example/?a=b") == "URL has query string");
}

TEST_CASE("URLs without a host or with odd characters are refused") {
    for (const auto* url : {"https://", "https:///path", "https://?a", "https://#a"}) {
        CHECK_MESSAGE(verdict(url) == "URL has no host", url);
    }
    for (const auto* url : {"https://a b/", "https://a/\n", "https://a/\xc3\xa4", "https://a/\"",
                            "https://a/{}", "https://a/\\", "https://a/<b>", "https://a/\x7f"}) {
        CHECK_MESSAGE(verdict(url) == "URL contains invalid characters", url);
    }
}

TEST_CASE("plain http passes only where it is allowed") {
    CHECK(verdict("http://127.0.0.1:1234/in", true) == "good");
    CHECK(verdict("https://127.0.0.1/in", true) == "good");
    CHECK(verdict("http://", true) == "URL has no host");
    CHECK(verdict("ftp://a/", true) == "URL is not HTTPS");
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
