/// @file
/// Hides secret settings from other processes.

#pragma once

#include <string_view>

namespace routemaster::service {

/// Whether the whole value of a setting is secret. `name` is its flag without dashes.
[[nodiscard]] bool is_secret(std::string_view name) noexcept;

/// Overwrites tokens, and passwords in URLs, in the arguments of the process, because every user
/// can read them in `/proc/PID/cmdline`. The arguments must have been copied before.
void hide_secret_arguments(int argc, char** argv) noexcept;

/// Overwrites secrets in environment variables with the prefix `ROUTEMASTER_`, because every
/// process of the same user, for example the command of a job, can read these variables in
/// `/proc/PID/environ`. Variables without the prefix are inherited by commands, and are not
/// changed. An overwritten variable is not empty.
void hide_secret_variables() noexcept;

}  // namespace routemaster::service
