/// @file
/// `CommandKeeper`: a process that starts commands.

#pragma once

#include <sys/types.h>

#include "components/command_guard.hpp"
#include "components/descriptor.hpp"
#include "routemaster/result.hpp"

namespace routemaster::service {

/// The connections of a worker to a started command. When the worker process ends for any reason,
/// the kernel closes them, and the guard then ends the command.
struct StartedCommand {
    Descriptor input;    ///< To the standard input of the command.
    Descriptor output;   ///< From the standard output and standard error of the command.
    Descriptor control;  ///< To and from the guard, see `guard_command`.
};

/// Starts commands from a separate small process. Forking the worker itself would be unsafe because
/// of its threads, and slow because a fork copies the page tables of a store in memory. Commands
/// also would inherit the open descriptors of the worker. The separate process ends with the
/// worker.
///
/// Thread safety: `start` from any thread.
class CommandKeeper {
public:
    /// Forks. Construct it before any other thread exists, and before files are opened that the new
    /// process must not inherit. Throws `Failure`.
    CommandKeeper();
    ~CommandKeeper();
    CommandKeeper(const CommandKeeper&) = delete;
    CommandKeeper& operator=(const CommandKeeper&) = delete;

    /// Starts a command. Errors: `unavailable` when the separate process has ended or the machine
    /// lacks resources; `invalid` when the words and variables are too long. If the program cannot
    /// be executed, the guard reports the reason later.
    [[nodiscard]] Result<StartedCommand> start(const CommandToRun& command) const;

private:
    pid_t pid_ = 0;
    Descriptor requests_;
};

}  // namespace routemaster::service
