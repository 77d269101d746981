/// @file
/// What commands send to the bus, and how they read the JSON of their settings.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// The JSON of a setting of that name. Throws `CLI::ValidationError` when it is none.
[[nodiscard]] Value json_of(const std::string& setting, const std::string& text);

/// A JSON object with these fields. Throws `CLI::ValidationError` when a text in it is no UTF-8:
/// JSON would carry another text then.
[[nodiscard]] std::string body_of(Value::Map fields);

}  // namespace routemaster::service
