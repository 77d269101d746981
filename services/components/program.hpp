/// @file
/// What every program does with its command line.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// The exit status of a program whose settings make no sense.
inline constexpr int usage_error = 2;

/// Does the work of a program once its settings are parsed, and returns the exit status. What it
/// throws is told in one line, and the exit status is 1, or `usage_error` for a `CLI::Error`.
using Run = std::function<int()>;

/// Declares the settings of a program, and says what to do with them.
using Declare = Run (*)(CLI::App&);

/// The arguments of `main`. Call it first: from then on, writing to a peer or reader that went away
/// fails rather than kills.
[[nodiscard]] std::vector<std::string> begin_program(int argc, char** argv);

/// Says what went wrong, in one line.
void complain(const std::string& name, std::string text);

/// `routemaster 1.2.3`, for `--version`.
[[nodiscard]] std::string version_of(const std::string& name);

/// Parses `arguments`, or says what is wrong with them. Answers the exit status when that is all
/// there is to do.
[[nodiscard]] std::optional<int> parse(CLI::App& app, std::vector<std::string> arguments);

/// Parses `arguments` as `declare` says and does the work. Returns the exit status.
[[nodiscard]] int run_program(CLI::App& app, Declare declare, std::vector<std::string> arguments);

}  // namespace routemaster::service
