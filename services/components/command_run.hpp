/// @file
/// Runs a command, from its start to its end.

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

/// The result of a run, and the end of its output.
struct CommandResult {
    CommandEnd end{};
    std::string output{};  ///< The last bytes of standard output and standard error.

    /// Returns the exit status, or -1 if the command was killed by a signal or never started.
    [[nodiscard]] int exit_status() const noexcept;
    /// Returns a description of the result, and the last lines of output: `exit status 3: no such
    /// picture`. At most `job_error_max` bytes.
    [[nodiscard]] std::string text() const;
};

/// Buffer for the last bytes of an output of any length.
class OutputTail {
public:
    /// `take` returns at least this many bytes, unless the output is shorter.
    static constexpr std::size_t bytes_max = std::size_t{8} << 10U;

    void add(std::string_view more);
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// Runs a command: writes `input` to it, reads its output, and waits until it has exited. When
/// `stopping` is requested, the command gets SIGTERM. After `patience`, its remaining processes get
/// SIGKILL. A command may close its input early. Returns the errors of `CommandKeeper::start`.
/// Returns `cancelled` if the guard was killed, or if it was stopped by a signal and therefore
/// could not kill the command.
[[nodiscard]] Result<CommandResult> run_command(const CommandKeeper& keeper,
                                                const CommandToRun& command, std::string_view input,
                                                const std::stop_token& stopping, Duration patience);

}  // namespace routemaster::service
