/// @file
/// The process between a worker and one command that it runs.

#pragma once

#include <string>
#include <vector>

namespace routemaster::service {

/// A command to execute.
struct CommandToRun {
    std::vector<std::string> words;      ///< The program, looked for in PATH, and its arguments.
    std::vector<std::string> variables;  ///< `NAME=value`, beside those of the environment.
};

/// What the worker tells the guard, one byte each. The end of the stream means that it is gone.
inline constexpr char ask_to_end = 'T';
inline constexpr char kill_all = 'K';

/// What the guard reports last. First of all it reports its process id, so that the worker can
/// continue a guard that somebody has stopped.
struct CommandEnd {
    int error = 0;   ///< If it could not be executed: why, as in `errno`.
    int status = 0;  ///< Else as `waitpid` has it.
};

/// Executes a command and watches it, in a process of its own that has one thread. `input` and
/// `output` become its standard input, and its standard output and error; `control` is the stream
/// to the worker. The command is alone in its process group, has no other descriptors, and none of
/// the variables that begin with `ROUTEMASTER_` but those it is given: they hold keys.
///
/// However it ends, nothing of it is left: when the command has ended, or the worker is gone, all
/// its descendants are killed, also those in groups and sessions of their own, for as their
/// `PR_SET_CHILD_SUBREAPER` the guard is the parent of all whose parents ended. If somebody kills
/// the guard, the command dies with it; its descendants do not. Never returns.
[[noreturn]] void guard_command(const CommandToRun& command, int input, int output, int control);

}  // namespace routemaster::service
