/// @file
/// The subscription that a subscriber asks for.

#pragma once

#include <string>

#include "routemaster/result.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/step.hpp"
#include "routemaster/value.hpp"

namespace routemaster::api {

/// The step that `payload`, a JSON object, asks for on behalf of `token`, checked in every respect.
/// `invalid`, naming the field, otherwise.
[[nodiscard]] Result<Subscribe> subscription_of(std::string token, const Value& payload,
                                                const HttpApiOptions& options);

}  // namespace routemaster::api
