/// @file
/// The JSON by which Node's dtimer knows a timer: its *event*.
///
/// The payload that is a map has its keys beside `id` and `maxRetries`, as dtimer posts it:
///
///     {"text":"hello"}  is  {"text":"hello","id":"a","maxRetries":2}
///     [1,2]             is  {"_payload":[1,2],"id":"a","maxRetries":2}
///
/// Any other payload, and a map with one of these names or `_numRetries`, is the value of
/// `_payload`. The scripts add `_numRetries`, as dtimer does: how often the timer came back.
///
/// Every event that anybody wrote has a payload: what is JSON but no object is its own payload, and
/// what is no JSON is the payload as a text, in which bytes that are not UTF-8 are replaced.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/value.hpp"

namespace routemaster::redis {

/// The event of a timer whose `payload` is a value in MessagePack.
[[nodiscard]] std::string timer_event(std::string_view id, std::string_view payload,
                                      std::uint32_t retries_max);

/// The payload of an event.
[[nodiscard]] Value timer_payload(std::string_view event);

}  // namespace routemaster::redis
