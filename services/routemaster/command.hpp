/// @file
/// The commands of the program. Each declares its settings and says what to do with them.

#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace routemaster::service {

/// Does the work of a command once its settings are parsed, and returns the exit status. What it
/// throws is told in one line, and the exit status is 1.
using Run = std::function<int()>;

/// The whole bus in one process.
Run declare_serve(CLI::App& app);
/// Who may use the bus.
Run declare_token(CLI::App& app);
/// Pushes events.
Run declare_publish(CLI::App& app);
/// Asks for events.
Run declare_subscribe(CLI::App& app);
/// Receives and prints batches.
Run declare_listen(CLI::App& app);

}  // namespace routemaster::service
