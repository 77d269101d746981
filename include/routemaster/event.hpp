/// @file
/// An event: something happened to the thing that lives at a URL.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// What happened.
enum class EventType {
    create,  ///< The thing is new.
    update,  ///< It changed.
    remove,  ///< It is gone; spelt `delete` on the wire.
    noop,    ///< Nothing happened: it is told for whoever missed earlier events.
};

/// The word on the wire: `create`, `update`, `delete`, `noop`.
[[nodiscard]] constexpr std::string_view to_string(EventType type) noexcept {
    switch (type) {
        case EventType::create: return "create";
        case EventType::update: return "update";
        case EventType::remove: return "delete";
        case EventType::noop: return "noop";
    }
    return "?";
}

/// The type that a word on the wire means; nothing for any other word.
[[nodiscard]] constexpr std::optional<EventType> event_type(std::string_view word) noexcept {
    for (const auto type :
         {EventType::create, EventType::update, EventType::remove, EventType::noop}) {
        if (word == to_string(type)) return type;
    }
    return std::nullopt;
}

/// What publishers push and subscribers get.
struct Event {
    std::string topic;  ///< See `is_topic_name`.
    EventType type = EventType::noop;
    std::string url;                       ///< Where the thing lives: https, without a query.
    std::optional<TimePoint> timestamp{};  ///< When it happened; absent: when it is published.
    std::optional<Value> data{};           ///< A map of a few bytes, if any.

    friend bool operator==(const Event&, const Event&) = default;
};

/// Checks a URL as the original does: present, https, without a query. Its error names `field`.
/// With `allow_http` a plain http URL passes too.
[[nodiscard]] inline Result<void> check_url(std::string_view url, std::string_view field,
                                            bool allow_http = false) {
    const auto refuse = [&](std::string_view why) -> Result<void> {
        return Error{Errc::invalid, std::string{field} + ": URL " + std::string{why}};
    };
    const auto starts = [&](std::string_view scheme) {
        if (url.size() < scheme.size()) return false;
        for (std::size_t i = 0; i < scheme.size(); ++i) {
            const char c = url[i];
            if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != scheme[i]) {
                return false;
            }
        }
        return true;
    };
    if (url.empty()) return refuse("is missing");
    const bool https = starts("https://");
    if (!https && !(allow_http && starts("http://"))) return refuse("is not HTTPS");
    const auto rest = url.substr(https ? 8 : 7);
    if (rest.empty() || rest.front() == '/' || rest.front() == '?' || rest.front() == '#') {
        return refuse("has no host");
    }
    for (const char c : url) {
        if (c == '?') return refuse("has query string");
        if (c <= ' ' || c >= '\x7f' || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' ||
            c == '`' || c == '{' || c == '|' || c == '}') {
            return refuse("contains invalid characters");
        }
    }
    return {};
}

/// Checks everything about an event but the size of its data, which only an encoder knows.
/// `invalid`, and the name of the field, when something is wrong.
[[nodiscard]] inline Result<void> check(const Event& event) {
    if (!is_topic_name(event.topic)) {
        return Error{Errc::invalid, "topic: must be 1 to 64 of a-z and _"};
    }
    if (auto url = check_url(event.url, "url"); !url) return url;
    if (event.data && event.data->get_if<Value::Map>() == nullptr) {
        return Error{Errc::invalid, "data: must be an object"};
    }
    return {};
}

}  // namespace routemaster
