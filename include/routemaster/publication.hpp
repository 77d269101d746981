/// @file
/// `publication`: makes the step that publishes an event.

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

/// Default limit for the data of an event, in bytes of MessagePack.
inline constexpr std::size_t event_data_max_default = 65'536;

/// The limit for the data of an event that a Ruby worker may read, in bytes of MessagePack. A Ruby
/// worker crashes on larger data. This is the default of its setting `ROUTEMASTER_MAX_EVENT_DATA`.
inline constexpr std::size_t event_data_max_ruby = 64;

/// The publisher, and the rules for its events.
struct PublicationOptions {
    /// The publisher claims each topic that it publishes in. Absent: topics stay unclaimed, and
    /// topics of a publisher are `forbidden`. Must satisfy `is_user_name`, else publishing is
    /// `invalid`.
    std::optional<std::string> publisher{};
    EventRules rules{};  ///< Further rules for events.
    /// Limit for the data of an event, in bytes of MessagePack.
    std::size_t event_data_max = event_data_max_default;
    std::uint32_t topics_max = UINT32_MAX;  ///< How many topics the publisher may own.
    bool authenticate = false;              ///< See `PublisherOptions::authenticate`.
};

/// Checks and encodes an event. If the event is wrong, the error is `invalid` and names the field.
///
/// `uid` must be a new id. Thread safe.
[[nodiscard]] Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                               std::optional<std::string> publisher,
                                               std::size_t event_data_max, const Uid& uid,
                                               TimePoint now);

}  // namespace routemaster
