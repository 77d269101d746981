/// @file
/// The commands of the program. Each declares its settings and returns the function that runs it.

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
/// Shows queued batches, and acts on them.
Run declare_batches(CLI::App& app);
/// Manages DEAD batches.
Run declare_dead(CLI::App& app);
/// Shows jobs, and acts on them.
Run declare_jobs(CLI::App& app);
/// Shows queues of jobs, pauses, resumes and limits them.
Run declare_queues(CLI::App& app);
/// Shows who works on jobs and deliveries.
Run declare_workers(CLI::App& app);
/// Manages recurring jobs and timers.
Run declare_recurring(CLI::App& app);
/// Shows timers, and acts on them.
Run declare_timers(CLI::App& app);
/// Posts timers that do something by themselves.
Run declare_actions(CLI::App& app);
/// Manages batches of jobs.
Run declare_job_batches(CLI::App& app);
/// Receives and prints batches.
Run declare_listen(CLI::App& app);
/// Examines the file of a store.
Run declare_check(CLI::App& app);
/// Copies the file of a store, while a bus uses it.
Run declare_backup(CLI::App& app);
/// Exports what is readable in the file of a store.
Run declare_export(CLI::App& app);

/// Checks whether a bus can move back to Ruby Routemaster.
Run declare_check_rollback(CLI::App& app);

}  // namespace routemaster::service
