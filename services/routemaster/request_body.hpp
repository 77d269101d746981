/// @file
/// Makes the bodies of requests, and parses JSON in settings.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// Parses the JSON in `text`. Throws `CLI::ValidationError`, which names `setting`, when the text
/// is not JSON.
[[nodiscard]] Value json_of(const std::string& setting, const std::string& text);

/// A JSON object with these fields. Throws `CLI::ValidationError` when a text in it is not UTF-8:
/// JSON would change the text.
[[nodiscard]] std::string body_of(Value::Map fields);

}  // namespace routemaster::service
