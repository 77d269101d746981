/// @file
/// From an event to the step that publishes it.

#pragma once

#include <cstddef>
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

/// Checks and encodes an event. `invalid`, naming the field, when something is wrong with it.
///
/// `uid` must be fresh. Thread safe.
[[nodiscard]] Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                               std::optional<std::string> publisher,
                                               std::size_t event_data_max, const Uid& uid,
                                               TimePoint now);

}  // namespace routemaster
