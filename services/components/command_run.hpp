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

/// How a run ended.
struct CommandResult {
    CommandEnd end{};
    std::string output{};  ///< The end of what it wrote.

    /// Its exit status; -1 when it has none, as it was killed, or never began.
    [[nodiscard]] int exit_status() const noexcept;
    /// How it ended, in words, and the last lines of its output: `exit status 3: no such picture`.
    /// At most `job_error_max` bytes.
    [[nodiscard]] std::string text() const;
};

/// The end of an output, which may be as long as it likes.
class OutputTail {
public:
    /// Bytes that are kept.
    static constexpr std::size_t bytes_max = std::size_t{8} << 10U;

    void add(std::string_view more);
    [[nodiscard]] std::string take() { return std::move(text_); }

private:
    std::string text_;
};

/// Runs a command: gives it `input`, reads what it writes, and waits until it has ended. When
/// `stopping` is requested it gets SIGTERM, and what is left of it after `patience` SIGKILL. A
/// command may close its input early. The errors are those of `CommandKeeper::start`, and
/// `cancelled` when its guard was killed, or stopped by a signal so that it kills nothing.
[[nodiscard]] Result<CommandResult> run_command(const CommandKeeper& keeper,
                                                const CommandToRun& command, std::string_view input,
                                                const std::stop_token& stopping, Duration patience);

}  // namespace routemaster::service
