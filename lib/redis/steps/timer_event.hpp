/// @file
/// The *event* of a timer: the JSON format of Node's dtimer.
///
/// If the payload is a map, its entries are added to the object with `id` and `maxRetries`, as in
/// dtimer:
///
///     {"text":"hello"}  is  {"text":"hello","id":"a","maxRetries":2}
///     [1,2]             is  {"_payload":[1,2],"id":"a","maxRetries":2}
///
/// Any other payload becomes the value of `_payload`, and so does a map with a key `id`,
/// `maxRetries`, `_numRetries` or `_payload`. The scripts add `_numRetries`, the number of retries
/// so far, as dtimer does.
///
/// Every event has a payload, even if written by another program. JSON of another type than an
/// object is itself the payload. Any other text is a text payload, with invalid UTF-8 replaced.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "routemaster/value.hpp"

namespace routemaster::redis {

[[nodiscard]] std::string timer_event(std::string_view id, std::string_view payload,
                                      std::uint32_t retries_max);

[[nodiscard]] Value timer_payload(std::string_view event);

}  // namespace routemaster::redis
