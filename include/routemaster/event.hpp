/// @file
/// An event: something happened to the thing that lives at a URL.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "routemaster/names.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/url.hpp"
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
