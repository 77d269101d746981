/// @file
/// An event: something happened to the thing that lives at a URL.

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
    update,  ///< It changed.
    remove,  ///< It is gone; spelt `delete` on the wire.
    noop,    ///< Nothing happened: sent for receivers that missed earlier events.
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

/// The type that a word on the wire stands for; nothing for any other word.
[[nodiscard]] constexpr std::optional<EventType> event_type(std::string_view word) noexcept {
    for (const auto type :
         {EventType::create, EventType::update, EventType::remove, EventType::noop}) {
        if (word == to_string(type)) return type;
    }
    return std::nullopt;
}

/// What publishers publish and subscribers get.
struct Event {
    std::string topic;                     ///< See `is_topic_name`.
    Required<EventType> type;              ///< What happened. It has no default.
    std::string url{};                     ///< Where the thing lives; see `EventRules`.
    std::optional<TimePoint> timestamp{};  ///< When it happened; absent: when it is published.
    std::optional<Value> data{};           ///< A map of a few bytes, if any; its keys differ.

    friend bool operator==(const Event&, const Event&) = default;
};

/// Rules for events that a bus may choose, beyond those that always apply.
struct EventRules {
    TopicRule topics = TopicRule::any;
    /// With `any`, an event that has data may also be without a URL.
    UrlRule urls = UrlRule::any;
};

/// How deep arrays and maps may nest in the data of an event: as deep as HTTP can publish them.
inline constexpr std::size_t event_data_depth_max = 63;

/// Checks everything about an event but the size of its data, which only an encoder knows: its
/// names and URL, and that its data is a map which JSON can carry (text is UTF-8, numbers are
/// finite, keys differ). `invalid`, naming the field, when something is wrong. Thread safe.
[[nodiscard]] Result<void> check(const Event& event, const EventRules& rules = {});

}  // namespace routemaster
