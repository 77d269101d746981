/// @file
/// Command-line handling for all programs.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// The exit status of a program with an invalid setting.
inline constexpr int usage_error = 2;

/// Function that does the work of a program after its settings are parsed, and returns the exit
/// status. If it throws, the program prints the error in one line and exits with 1, or with
/// `usage_error` for a `CLI::Error`.
using Run = std::function<int()>;

/// Function that declares the settings of a program, and returns the function for its work.
using Declare = Run (*)(CLI::App&);

/// Returns the arguments of `main`, and hides the secrets among them from other processes. Also
/// ignores SIGPIPE and SIGXFSZ, so that writes to a closed connection, or beyond a limit of file
/// sizes, fail instead of killing the process. Must be called first.
[[nodiscard]] std::vector<std::string> begin_program(int argc, char** argv);

/// Prints an error as a single line.
void complain(const std::string& name, const std::string& text);

/// Returns `routemaster 1.2.3`, for `--version`.
[[nodiscard]] std::string version_of(const std::string& name);

/// Parses `arguments`. On error, or after `--help`, prints a text and returns the exit status with
/// which the program should exit.
[[nodiscard]] std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments);

/// Parses `arguments` with the settings of `declare`, hides the secrets among the environment
/// variables, and does the work. Returns the exit status.
[[nodiscard]] int run_program(CLI::App& app, Declare declare, std::vector<std::string> arguments);

}  // namespace routemaster::service
