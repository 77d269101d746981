/// @file
/// The commands of the program. Each declares its settings and says what to do with them.

#pragma once

#include <CLI/CLI.hpp>

#include "components/program.hpp"

namespace routemaster::service {

/// The whole bus in one process.
Run declare_serve(CLI::App& app);
/// Who may use the bus.
Run declare_token(CLI::App& app);
/// Pushes events.
Run declare_publish(CLI::App& app);
/// Asks for events.
Run declare_subscribe(CLI::App& app);
/// Looks after batches that failed for good.
Run declare_dead(CLI::App& app);
/// Receives and prints batches.
Run declare_listen(CLI::App& app);
/// Examines the file of a store.
Run declare_check(CLI::App& app);
/// Copies the file of a store, while a bus uses it.
Run declare_backup(CLI::App& app);
/// Saves what can be read of the file of a store.
Run declare_export(CLI::App& app);

}  // namespace routemaster::service
