/// @file
/// Creates the bodies of requests, and parses JSON in settings.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// Parses the JSON in `text`. If it is not JSON, throws `CLI::ValidationError` that names
/// `setting`.
[[nodiscard]] Value json_of(const std::string& setting, const std::string& text);

/// Returns a JSON object with these fields. Throws `CLI::ValidationError` if a text in it is not
/// UTF-8, because JSON would change the text.
[[nodiscard]] std::string body_of(Value::Map fields);

}  // namespace routemaster::service
