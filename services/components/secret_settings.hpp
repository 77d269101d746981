/// @file
/// Secret settings, and how other processes are kept from reading them.

#pragma once

#include <string_view>

namespace routemaster::service {

/// Whether the whole value of a setting is secret, by the name of its flag without dashes.
[[nodiscard]] bool is_secret(std::string_view name) noexcept;

/// Overwrites tokens, and passwords in URLs, among the arguments of the process, which
/// `/proc/PID/cmdline` shows to every user. Call it once they were copied.
void hide_secret_arguments(int argc, char** argv) noexcept;

/// The same in the variables that begin with `ROUTEMASTER_`, where `/proc/PID/environ` shows them
/// to every process of the same user, such as a command that the process runs for a job. Other
/// variables belong to the environment that commands get. A hidden variable is not empty.
void hide_secret_variables() noexcept;

}  // namespace routemaster::service
