/// @file
/// `Event`: a notification that the object at a URL has changed.

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

/// The kind of change.
enum class EventType {
    create,  ///< The object was created.
    update,  ///< The object was changed.
    remove,  ///< The object was deleted; spelt `delete` in HTTP and in stored messages.
    noop,    ///< No change; sent for subscribers that missed earlier events.
};

/// The spelling in HTTP and in stored messages: `create`, `update`, `delete`, `noop`.
[[nodiscard]] constexpr std::string_view to_string(EventType type) noexcept {
    switch (type) {
        case EventType::create: return "create";
        case EventType::update: return "update";
        case EventType::remove: return "delete";
        case EventType::noop: return "noop";
    }
    return "?";
}

/// Parses the spelling of HTTP and of stored messages; nothing for any other word.
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
    std::string url{};         ///< The URL of the changed object; see `EventRules`.
    /// When the change happened; absent: the time of publication.
    std::optional<TimePoint> timestamp{};
    std::optional<Value> data{};  ///< A small map with distinct keys, or nothing.

    friend bool operator==(const Event&, const Event&) = default;
};

/// Validation rules of a bus for its events, in addition to the general rules.
struct EventRules {
    TopicRule topics = TopicRule::any;
    /// With `any`, an event with data need not have a URL.
    UrlRule urls = UrlRule::any;
};

/// Maximum nesting depth of arrays and maps in an event's data; HTTP has the same limit.
inline constexpr std::size_t event_data_depth_max = 63;

/// Validates an event: its names, its URL, and that its data is a map that JSON can represent
/// (UTF-8 text, finite numbers, distinct keys). The size of the data is not checked, because only
/// an encoder knows it. `invalid`, naming the field, when a check fails. Thread safe.
[[nodiscard]] Result<void> check(const Event& event, const EventRules& rules = {});

}  // namespace routemaster
