/// @file
/// `publication`: constructs the step that publishes an event.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

struct PublishEvent;

/// Default maximum size of an event's data, in bytes of MessagePack.
inline constexpr std::size_t event_data_max_default = 65'536;

/// Maximum size of an event's data that a Ruby worker accepts, in bytes of MessagePack. It is the
/// default of its setting `ROUTEMASTER_MAX_EVENT_DATA`. A Ruby worker crashes on larger data.
inline constexpr std::size_t event_data_max_ruby = 64;

/// The publisher of an event, and the limits for its events.
struct PublicationOptions {
    /// The publisher claims each topic to which it publishes. Absent: topics stay unclaimed, and
    /// publishing to another publisher's topic is `forbidden`. Must satisfy `is_user_name`, else
    /// publishing is `invalid`.
    std::optional<std::string> publisher{};
    EventRules rules{};  ///< Additional validation rules for events.
    /// Maximum size of an event's data, in bytes of MessagePack.
    std::size_t event_data_max = event_data_max_default;
    std::uint32_t topics_max = UINT32_MAX;  ///< Maximum number of the publisher's topics.
    bool authenticate = false;              ///< See `PublisherOptions::authenticate`.
};

/// Validates and encodes an event. `invalid`, naming the field, if the event is wrong.
///
/// `uid` must be a new id. Thread safe.
[[nodiscard]] Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                               std::optional<std::string> publisher,
                                               std::size_t event_data_max, const Uid& uid,
                                               TimePoint now);

}  // namespace routemaster
