/// @file
/// An event: a notice about the thing at a URL.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "routemaster/names.hpp"
#include "routemaster/required.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/url.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// What happened.
enum class EventType {
    create,  ///< The thing is new.
    update,  ///< The thing changed.
    remove,  ///< The thing is gone; spelt `delete` in HTTP and in stored messages.
    noop,    ///< Nothing happened: sent for receivers that missed earlier events.
};

/// The word in HTTP and in stored messages: `create`, `update`, `delete`, `noop`.
[[nodiscard]] constexpr std::string_view to_string(EventType type) noexcept {
    switch (type) {
        case EventType::create: return "create";
        case EventType::update: return "update";
        case EventType::remove: return "delete";
        case EventType::noop: return "noop";
    }
    return "?";
}

/// The type of a word in HTTP or in a stored message; nothing for any other word.
[[nodiscard]] constexpr std::optional<EventType> event_type(std::string_view word) noexcept {
    for (const auto type :
         {EventType::create, EventType::update, EventType::remove, EventType::noop}) {
        if (word == to_string(type)) return type;
    }
    return std::nullopt;
}

/// An event, published by a publisher and received by subscribers.
struct Event {
    std::string topic;         ///< See `is_topic_name`.
    Required<EventType> type;  ///< Required; there is no default.
    std::string url{};         ///< The URL of the thing; see `EventRules`.
    /// When the event happened; absent: the time of publication.
    std::optional<TimePoint> timestamp{};
    std::optional<Value> data{};  ///< A small map with distinct keys, or nothing.

    friend bool operator==(const Event&, const Event&) = default;
};

/// Event rules of a bus, in addition to the general rules.
struct EventRules {
    TopicRule topics = TopicRule::any;
    /// With `any`, an event with data may lack a URL.
    UrlRule urls = UrlRule::any;
};

/// The deepest nesting of arrays and maps in the data of an event, equal to the limit over HTTP.
inline constexpr std::size_t event_data_depth_max = 63;

/// Checks an event, except for the size of its data, which only an encoder knows. Checks the names,
/// the URL, and that the data is a map which JSON can carry (UTF-8 text, finite numbers, distinct
/// keys). `invalid`, naming the field, when a check fails. Thread safe.
[[nodiscard]] Result<void> check(const Event& event, const EventRules& rules = {});

}  // namespace routemaster
