/// @file
/// `CommandKeeper`: a separate process that starts commands.

#pragma once

#include <sys/types.h>

#include "components/command_guard.hpp"
#include "components/descriptor.hpp"
#include "routemaster/result.hpp"

namespace routemaster::service {

/// A worker's connections to a running command. When the worker process exits for any reason, the
/// kernel closes these connections, and the guard then kills the command.
struct StartedCommand {
    Descriptor input;    ///< Pipe to the standard input of the command.
    Descriptor output;   ///< Pipe from the standard output and standard error of the command.
    Descriptor control;  ///< Socket to the guard; see `guard_command`.
};

/// Handle of a small separate process that starts commands. Forking the worker itself would be
/// unsafe because of its threads, and slow because a fork copies the page tables of a store in
/// memory. Commands would also inherit the open descriptors of the worker. The separate process
/// exits when the worker does.
///
/// Thread safety: `start` from any thread.
class CommandKeeper {
public:
    /// Forks. Must be called before any other thread exists, and before files are opened that the
    /// new process must not inherit. Throws `Failure`.
    CommandKeeper();
    ~CommandKeeper();
    CommandKeeper(const CommandKeeper&) = delete;
    CommandKeeper& operator=(const CommandKeeper&) = delete;

    /// Starts a command. `unavailable` if the separate process has exited or the machine lacks
    /// resources; `invalid` if the words and variables are too long. If the program cannot be
    /// executed, no error is returned here: the guard reports it through `StartedCommand::control`.
    [[nodiscard]] Result<StartedCommand> start(const CommandToRun& command) const;

private:
    pid_t pid_ = 0;
    Descriptor requests_;
};

}  // namespace routemaster::service
