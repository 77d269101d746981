/// @file
/// One run of a command, from its start to its end.

#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "components/command_keeper.hpp"
#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster::service {

/// The end of a run, and the end of its output.
struct CommandResult {
    CommandEnd end{};
    std::string output{};  ///< The end of standard output and standard error.

    /// The exit status; -1 when the command was killed by a signal or never started.
    [[nodiscard]] int exit_status() const noexcept;
    /// A description of the end, and the last lines of output: `exit status 3: no such picture`. At
    /// most `job_error_max` bytes.
    [[nodiscard]] std::string text() const;
};

/// Keeps the end of an output of any length.
class OutputTail {
public:
    /// The number of bytes that `take` returns at least, if the output is as long.
    static constexpr std::size_t bytes_max = std::size_t{8} << 10U;

    void add(std::string_view more);
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// Runs a command: writes `input` to it, reads its output, and waits until it has ended. When
/// `stopping` is requested, the command gets SIGTERM; after `patience`, its remaining processes get
/// SIGKILL. A command may close its input early. Errors: the errors of `CommandKeeper::start`, and
/// `cancelled` when the guard was killed, or was stopped by a signal and therefore could not kill
/// the command.
[[nodiscard]] Result<CommandResult> run_command(const CommandKeeper& keeper,
                                                const CommandToRun& command, std::string_view input,
                                                const std::stop_token& stopping, Duration patience);

}  // namespace routemaster::service
