/// @file
/// From an event to the step that publishes it.

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

/// Bytes of MessagePack that the data of an event may take, unless set otherwise.
inline constexpr std::size_t event_data_max_default = 65'536;

/// The same where a Ruby worker may read the event: it does not survive more than its
/// `ROUTEMASTER_MAX_EVENT_DATA`, which is this unless set otherwise.
inline constexpr std::size_t event_data_max_ruby = 64;

/// Who publishes, and what is asked of the events.
struct PublicationOptions {
    /// Claims the topics that it publishes in. Nobody: topics stay unclaimed, and those of others
    /// are `forbidden`. Must satisfy `is_user_name`, else publishing is `invalid`.
    std::optional<std::string> publisher{};
    EventRules rules{};                                   ///< Further rules for events.
    std::size_t event_data_max = event_data_max_default;  ///< Bytes of MessagePack.
    std::uint32_t topics_max = UINT32_MAX;                ///< Topics that the publisher may own.
    bool authenticate = false;                            ///< See `PublisherOptions::authenticate`.
};

/// Checks and encodes an event. `invalid`, naming the field, when something is wrong with it.
///
/// `uid` must be fresh. Thread safe.
[[nodiscard]] Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                               std::optional<std::string> publisher,
                                               std::size_t event_data_max, const Uid& uid,
                                               TimePoint now);

}  // namespace routemaster
