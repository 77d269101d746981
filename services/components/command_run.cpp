#include "components/command_run.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <optional>
#include <system_error>

#include "routemaster/error.hpp"
#include "routemaster/job_status.hpp"

namespace routemaster::service {
namespace {

/// Maximum bytes per read or write.
constexpr std::size_t chunk_bytes = std::size_t{64} << 10U;

/// Steady, because changes of the system time must not shorten or extend timeouts.
using Clock = std::chrono::steady_clock;

/// Timeout for the guard's report after `kill_all`. The guard needs at most five seconds.
constexpr Duration kill_timeout = std::chrono::seconds{6};

/// Maximum timeout passed to `poll`.
constexpr Duration longest_wait = std::chrono::hours{1};

/// Reads all available bytes. Returns false at the end of the stream.
bool read_some(const Descriptor& from, OutputTail& tail) {
    char chunk[chunk_bytes];
    for (;;) {
        const auto got = ::read(from.get(), chunk, sizeof chunk);
        if (got > 0) {
            tail.add({chunk, static_cast<std::size_t>(got)});
        } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
            return false;
        } else if (errno == EAGAIN) {
            return true;
        }
    }
}

/// Writes as many bytes as the pipe accepts. Returns false when all bytes are written, or when the
/// reader has closed the pipe.
bool write_some(const Descriptor& to, std::string_view& input) {
    while (!input.empty()) {
        const auto written = ::write(to.get(), input.data(), std::min(input.size(), chunk_bytes));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno == EAGAIN;
        input.remove_prefix(static_cast<std::size_t>(written));
    }
    return false;
}

/// One run of a command. `wait` blocks the calling thread until the run has ended.
class RunningCommand {
public:
    RunningCommand(StartedCommand started, std::string_view input, const std::stop_token& stopping,
                   Duration patience)
        : command_{std::move(started)},
          input_{input},
          patience_{patience},
          stops_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
          stop_{stopping, Wake{stops_.get()}} {}

    /// Waits for the final report of the guard. Returns nothing if the guard exited without a
    /// report, or did not report within `kill_timeout`.
    std::optional<CommandEnd> wait() {
        if (input_.empty()) command_.input.close();
        for (;;) {
            pollfd all[] = {{command_.control.get(), POLLIN, 0},
                            {stops_.get(), POLLIN, 0},
                            {command_.input.get(), POLLOUT, 0},
                            {command_.output.get(), POLLIN, 0}};
            if (::poll(all, 4, next()) < 0) continue;
            if (all[2].revents != 0 && !write_some(command_.input, input_)) command_.input.close();
            if (all[3].revents != 0 && !read_some(command_.output, tail_)) command_.output.close();
            if (all[1].revents != 0) ask_to_stop();
            if (all[0].revents != 0) {
                if (guard_) return take_end();
                if (!take_guard()) return std::nullopt;
            }
            if (kill_at_ && Clock::now() >= *kill_at_) ask_to_kill();
            if (give_up_at_ && Clock::now() >= *give_up_at_) return std::nullopt;
        }
    }

    [[nodiscard]] std::string output() { return tail_.take(); }

private:
    struct Wake {
        int descriptor;
        void operator()() const { eventfd_write(descriptor, 1); }
    };

    /// Returns the timeout for `poll`, in milliseconds; -1 for none.
    [[nodiscard]] int next() const {
        const auto& at = kill_at_ ? kill_at_ : give_up_at_;
        if (!at) return -1;
        const auto left = std::chrono::ceil<Duration>(*at - Clock::now());
        return static_cast<int>(std::clamp(left, Duration{0}, longest_wait).count());
    }

    void say(char what) {
        [[maybe_unused]] const auto written = ::write(command_.control.get(), &what, 1);
    }

    void ask_to_stop() {
        eventfd_t count = 0;
        eventfd_read(stops_.get(), &count);
        say(ask_to_end);
        kill_at_ = Clock::now() + patience_;
    }

    /// Requests the guard to kill the command. The guard may have been stopped by a signal, perhaps
    /// from its command, and then reads no requests. SIGCONT therefore continues the guard first.
    void ask_to_kill() {
        say(kill_all);
        if (guard_.value_or(0) > 0) ::kill(*guard_, SIGCONT);
        kill_at_.reset();
        give_up_at_ = Clock::now() + kill_timeout;
    }

    bool take_guard() {
        pid_t guard = 0;
        if (::read(command_.control.get(), &guard, sizeof guard) != sizeof guard) return false;
        guard_ = guard;
        return true;
    }

    std::optional<CommandEnd> take_end() {
        CommandEnd end;
        const auto got = ::read(command_.control.get(), &end, sizeof end);
        if (command_.output.get() >= 0) read_some(command_.output, tail_);
        return got == sizeof end ? std::optional{end} : std::nullopt;
    }

    StartedCommand command_;
    std::optional<pid_t> guard_;  ///< Set when the guard has reported its process id; 0 if it could
                                  ///< not fork.
    std::string_view input_;
    const Duration patience_;
    OutputTail tail_;
    std::optional<Clock::time_point> kill_at_;
    std::optional<Clock::time_point> give_up_at_;
    Descriptor stops_;
    std::stop_callback<Wake> stop_;
};

std::string words_of(const CommandEnd& end) {
    if (end.error != 0) return "cannot be executed: " + std::generic_category().message(end.error);
    if (WIFEXITED(end.status)) return "exit status " + std::to_string(WEXITSTATUS(end.status));
    const int signal = WTERMSIG(end.status);
    const char* const name = ::sigabbrev_np(signal);
    return "killed by " + (name != nullptr ? "SIG" + std::string{name} : std::to_string(signal));
}

/// Returns the last whole lines of a text that fit into `bytes_max`. If the last line alone is
/// longer, returns its end.
std::string_view last_lines(std::string_view text, std::size_t bytes_max) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    if (text.size() <= bytes_max) return text;
    text.remove_prefix(text.size() - bytes_max);
    const auto line = text.find('\n');
    if (line != std::string_view::npos) text.remove_prefix(line + 1);
    return text;
}

}  // namespace

int CommandResult::exit_status() const noexcept {
    return end.error == 0 && WIFEXITED(end.status) ? WEXITSTATUS(end.status) : -1;
}

std::string CommandResult::text() const {
    auto text = words_of(end);
    const auto lines = last_lines(output, job_error_max - text.size() - 2);
    if (!lines.empty()) text.append(": ").append(lines);
    // The text becomes the message of an exception, and `what()` would end at the first NUL.
    std::replace(text.begin(), text.end(), '\0', '?');
    return text;
}

void OutputTail::add(std::string_view more) {
    if (more.size() >= bytes_max) {
        text_ = more.substr(more.size() - bytes_max);
        return;
    }
    text_.append(more);
    // Trimming only at twice the size reduces the number of bytes moved.
    if (text_.size() > 2 * bytes_max) text_.erase(0, text_.size() - bytes_max);
}

Result<CommandResult> run_command(const CommandKeeper& keeper, const CommandToRun& command,
                                  std::string_view input, const std::stop_token& stopping,
                                  Duration patience) {
    auto started = keeper.start(command);
    if (!started) return started.error();
    RunningCommand run{*std::move(started), input, stopping, patience};
    const auto end = run.wait();
    if (!end) return Error{Errc::cancelled, "the guard of the command was killed or stopped"};
    return CommandResult{*end, run.output()};
}

}  // namespace routemaster::service
