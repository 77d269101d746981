/// @file
/// Hides secret settings from other processes.

#pragma once

#include <string_view>

namespace routemaster::service {

/// Whether the whole value of a setting is secret. `name` is its flag without dashes.
[[nodiscard]] bool is_secret(std::string_view name) noexcept;

/// Overwrites tokens, and passwords in URLs, in the arguments of the process: `/proc/PID/cmdline`
/// shows the arguments to every user. The arguments must have been copied before.
void hide_secret_arguments(int argc, char** argv) noexcept;

/// Overwrites secrets in the environment variables with the prefix `ROUTEMASTER_`:
/// `/proc/PID/environ` shows the variables to every process of the same user, for example to the
/// command of a job. Variables without the prefix stay unchanged, because commands inherit them. A
/// hidden variable is not empty.
void hide_secret_variables() noexcept;

}  // namespace routemaster::service
