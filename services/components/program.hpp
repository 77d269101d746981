/// @file
/// Command-line handling that all programs share.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// The exit status of a program with a bad setting.
inline constexpr int usage_error = 2;

/// Does the work of a program once its settings are parsed, and returns the exit status. If it
/// throws, the program prints the error in one line, and exits with 1, or `usage_error` for a
/// `CLI::Error`.
using Run = std::function<int()>;

/// Declares the settings of a program, and returns the function that does its work.
using Declare = Run (*)(CLI::App&);

/// Returns the arguments of `main`, and hides the secrets among them from other processes. Call it
/// first: from then on, writing to a peer or reader that has gone, or beyond a limit of file sizes,
/// fails instead of killing the process.
[[nodiscard]] std::vector<std::string> begin_program(int argc, char** argv);

/// Prints an error in one line.
void complain(const std::string& name, const std::string& text);

/// `routemaster 1.2.3`, for `--version`.
[[nodiscard]] std::string version_of(const std::string& name);

/// Parses `arguments`, or prints what is wrong with them. Returns the exit status when there is
/// nothing more to do.
[[nodiscard]] std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments);

/// Parses `arguments` as `declare` says, hides the secrets among the variables, and does the work.
/// Returns the exit status.
[[nodiscard]] int run_program(CLI::App& app, Declare declare, std::vector<std::string> arguments);

}  // namespace routemaster::service
