/// @file
/// Access to environment variables.

#pragma once

#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>

namespace routemaster::service {

[[nodiscard]] inline bool is_set(const std::string& variable) {
    const char* const value = variable.empty() ? nullptr : std::getenv(variable.c_str());
    return value != nullptr && *value != '\0';
}

/// Whether the environment variable of a setting is set and not empty.
[[nodiscard]] inline bool set_in_environment(const CLI::Option& option) {
    return is_set(option.get_envname());
}

}  // namespace routemaster::service
