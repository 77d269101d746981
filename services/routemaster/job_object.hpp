/// @file
/// Creates the JSON of a job given on the command line.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// Returns the JSON object of a job. `arguments` is the text of a JSON array. `options` is the text
/// of a JSON object with further fields. Either may be empty. Throws `CLI::ValidationError`.
[[nodiscard]] Value::Map job_object(const std::string& name, const std::string& arguments,
                                    const std::string& options);

}  // namespace routemaster::service
