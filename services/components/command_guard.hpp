/// @file
/// The guard: a process between a worker and a command, which kills all processes of the command.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// A command to execute.
struct CommandToRun {
    std::vector<std::string> words;      ///< The program (searched in PATH), then its arguments.
    std::vector<std::string> variables;  ///< `NAME=value`, added to the environment.
};

/// Requests from the worker to the guard, one byte each. End of file means that the worker has
/// exited.
inline constexpr char ask_to_end = 'T';
inline constexpr char kill_all = 'K';

/// The final report of the guard. Its first report is its process id. The worker needs this id to
/// continue (SIGCONT) a guard that was stopped by a signal.
struct CommandEnd {
    int error = 0;   ///< Not 0 if the command could not be executed: an `errno` value.
    int status = 0;  ///< Otherwise the wait status of `waitpid`.
};

/// Executes and supervises a command, in a separate, single-threaded process. `input` becomes the
/// standard input of the command, `output` its standard output and standard error. `control` is the
/// socket to the worker. The command gets a new process group and no other descriptors. Variables
/// beginning with `ROUTEMASTER_` are removed from its environment, because they may contain keys.
/// Only the variables in `command` are added.
///
/// No process of the command survives: when the command or the worker has exited, the guard kills
/// all descendants, even those in other process groups and sessions. For this purpose the guard
/// sets `PR_SET_CHILD_SUBREAPER`, so that it becomes the parent of each orphaned descendant. If
/// the guard itself is killed, the kernel kills the command, but not its descendants. Never
/// returns.
[[noreturn]] void guard_command(const CommandToRun& command, int input, int output, int control);

}  // namespace routemaster::service
