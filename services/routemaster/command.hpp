/// @file
/// The commands of the program. Each function declares the settings of a command and returns the
/// function that runs the command.

#pragma once

#include <CLI/CLI.hpp>

#include "components/program.hpp"

namespace routemaster::service {

/// Runs the complete bus in one process.
Run declare_serve(CLI::App& app);
/// Manages the tokens of clients.
Run declare_token(CLI::App& app);
/// Publishes events.
Run declare_publish(CLI::App& app);
/// Subscribes to topics.
Run declare_subscribe(CLI::App& app);
/// Shows and changes queued batches.
Run declare_batches(CLI::App& app);
/// Manages DEAD batches.
Run declare_dead(CLI::App& app);
/// Shows and changes jobs.
Run declare_jobs(CLI::App& app);
/// Shows, pauses, resumes and limits queues of jobs.
Run declare_queues(CLI::App& app);
/// Shows the workers of jobs and deliveries.
Run declare_workers(CLI::App& app);
/// Manages recurring jobs and timers.
Run declare_recurring(CLI::App& app);
/// Shows and changes timers.
Run declare_timers(CLI::App& app);
/// Posts timers with actions, which the bus performs at the due time.
Run declare_actions(CLI::App& app);
/// Manages batches of jobs.
Run declare_job_batches(CLI::App& app);
/// Receives batches over HTTP, and prints them.
Run declare_listen(CLI::App& app);
/// Checks the file of a store.
Run declare_check(CLI::App& app);
/// Copies the file of a store, even while a bus has it open.
Run declare_backup(CLI::App& app);
/// Exports all readable data from the file of a store.
Run declare_export(CLI::App& app);

/// Checks whether a bus can be moved back to Ruby Routemaster.
Run declare_check_rollback(CLI::App& app);

}  // namespace routemaster::service
