/// @file
/// From an event to the step that publishes it.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "routemaster/codec/msgpack.hpp"
#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster {

/// Bytes of MessagePack that the data of an event may take, unless set otherwise. The original's
/// `ROUTEMASTER_MAX_EVENT_DATA`: its workers do not survive a larger one.
inline constexpr std::size_t event_data_max_default = 64;

/// Checks and encodes an event. `invalid`, naming the field, when something is wrong with it.
///
/// `uid` must be fresh. Thread safe.
[[nodiscard]] inline Result<PublishEvent> publication(const Event& event, const EventRules& rules,
                                                      std::optional<std::string> publisher,
                                                      std::size_t event_data_max, const Uid& uid,
                                                      TimePoint now) {
    if (auto checked = check(event, rules); !checked) return checked.error();
    const auto data_size = event.data ? encoded_size(*event.data) : 0;
    if (data_size > event_data_max) {
        return Error{Errc::invalid, "data: takes " + std::to_string(data_size) +
                                        " bytes of MessagePack, more than " +
                                        std::to_string(event_data_max)};
    }
    return PublishEvent{.topic = event.topic,
                        .publisher = std::move(publisher),
                        .message = encode_message(event, now),
                        .timestamp = event.timestamp.value_or(now),
                        .uid = uid};
}

}  // namespace routemaster
