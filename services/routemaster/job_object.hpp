/// @file
/// What the command line says of a job, as JSON.

#pragma once

#include <string>

#include "routemaster/value.hpp"

namespace routemaster::service {

/// The object of a job of that name. The arguments are the text of a JSON array, the options that
/// of an object with further fields; either may be empty. Throws `CLI::ValidationError`.
[[nodiscard]] Value::Map job_object(const std::string& name, const std::string& arguments,
                                    const std::string& options);

}  // namespace routemaster::service
