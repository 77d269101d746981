/// @file
/// `CommandKeeper`: the process from which commands are started.

#pragma once

#include <sys/types.h>

#include "components/command_guard.hpp"
#include "components/descriptor.hpp"
#include "routemaster/result.hpp"

namespace routemaster::service {

/// A command that was started, as its worker holds it. When the worker ends, these close, whatever
/// ended it, and the guard ends the command.
struct StartedCommand {
    Descriptor input;    ///< To its standard input.
    Descriptor output;   ///< From its standard output and error.
    Descriptor control;  ///< To and from its guard, see `guard_command`.
};

/// Starts commands from a process of its own, which has nothing but that to do: the worker itself
/// has threads, and a store whose memory may be large, which a fork would have to copy the page
/// tables of; and what it has open is none of the commands' business. It ends with the worker.
///
/// Thread safety: `start` from any thread.
class CommandKeeper {
public:
    /// Forks: no other thread may exist yet, nor anything be open that is not to be forgotten.
    /// Throws `Failure`.
    CommandKeeper();
    ~CommandKeeper();
    CommandKeeper(const CommandKeeper&) = delete;
    CommandKeeper& operator=(const CommandKeeper&) = delete;

    /// Begins a command. `unavailable` when the process is gone, or the machine has no room;
    /// `invalid` when the words are too long. That the program cannot be executed is reported by
    /// the guard.
    [[nodiscard]] Result<StartedCommand> start(const CommandToRun& command) const;

private:
    pid_t pid_ = 0;
    Descriptor requests_;
};

}  // namespace routemaster::service
