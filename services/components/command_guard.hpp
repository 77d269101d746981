/// @file
/// The guard: a process between a worker and a command, which ends all processes of the command.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// A command to execute.
struct CommandToRun {
    std::vector<std::string> words;      ///< The program (looked up in PATH), then its arguments.
    std::vector<std::string> variables;  ///< `NAME=value`, added to the environment.
};

/// The requests from the worker to the guard, one byte each. End of file means a worker that has
/// ended.
inline constexpr char ask_to_end = 'T';
inline constexpr char kill_all = 'K';

/// The last report of the guard. Its first report is its process id: the worker needs the id to
/// continue (SIGCONT) a guard after a signal has stopped the guard.
struct CommandEnd {
    int error = 0;   ///< An `errno` value if the command could not be executed.
    int status = 0;  ///< Otherwise the status, as `waitpid` returns it.
};

/// Executes and watches a command. Runs in a separate, single-threaded process. `input` becomes the
/// standard input of the command, `output` its standard output and standard error. `control` is the
/// stream to the worker. The command gets its own process group and no further descriptors.
/// Variables beginning with `ROUTEMASTER_` are removed from its environment because they hold keys;
/// only the variables in `command` are added.
///
/// No process of the command survives: when the command has ended, or the worker has ended, the
/// guard kills all descendants, including descendants in process groups and sessions of their own.
/// For this purpose the guard sets `PR_SET_CHILD_SUBREAPER`, and becomes the parent of each
/// orphaned descendant. If the guard itself is killed, the command is killed too, but its
/// descendants survive. Never returns.
[[noreturn]] void guard_command(const CommandToRun& command, int input, int output, int control);

}  // namespace routemaster::service
