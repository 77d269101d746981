/// @file
/// The event that a publisher sends.

#pragma once

#include <string>

#include "routemaster/event.hpp"
#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The event that `payload`, a JSON object, describes for `topic`, checked in every respect.
/// `invalid`, naming the field, otherwise.
[[nodiscard]] Result<Event> event_of(std::string topic, const Value& payload,
                                     const HttpApiOptions& options);

}  // namespace routemaster::api
