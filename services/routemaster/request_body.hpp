/// @file
/// What commands send to the bus.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// A JSON object with these fields. Throws `CLI::ValidationError` when a text in it is no UTF-8:
/// JSON would carry another text then.
[[nodiscard]] std::string body_of(Value::Map fields);

}  // namespace routemaster::service
