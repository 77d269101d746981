#include "components/command_guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "components/descriptor.hpp"

namespace routemaster::service {
namespace {

/// For at most five seconds, the guard repeats SIGKILL, because processes of other users, and
/// processes blocked in the kernel, may survive it at first.
constexpr int kill_rounds_max = 500;
constexpr int kill_round_ms = 10;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const auto& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
    std::vector<std::string> all;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view variable{*each};
        if (!variable.starts_with("ROUTEMASTER_")) all.emplace_back(variable);
    }
    all.insert(all.end(), variables.begin(), variables.end());
    return all;
}

/// Resets all signals to their default actions, and unblocks them.
void forget_signals() {
    for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Replaces this process by the command with `exec`. On error, writes `errno` to `report` and
/// exits.
[[noreturn]] void become(const CommandToRun& command, int input, int output, int report,
                         pid_t guard) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guard) _exit(127);
    forget_signals();
    const auto environment = environment_with(command.variables);
    const auto words = pointers(command.words);
    const auto variables = pointers(environment);
    if (dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
        dup2(output, STDERR_FILENO) >= 0 &&
        close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0) {
        execvpe(words.front(), words.data(), variables.data());
    }
    const int error = errno;
    [[maybe_unused]] const auto written = ::write(report, &error, sizeof error);
    _exit(127);
}

/// Kills all children of this process. Their children then become children of this process.
void kill_children() {
    const auto path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    std::string text;
    char chunk[4096];
    for (ssize_t got = 0; (got = ::read(file.get(), chunk, sizeof chunk)) > 0;) {
        text.append(chunk, static_cast<std::size_t>(got));
    }
    const char* at = text.c_str();
    char* end = nullptr;
    for (long child = 0; (child = std::strtol(at, &end, 10)) > 0; at = end) {
        ::kill(static_cast<pid_t>(child), SIGKILL);
    }
}

/// A running command and its descendants.
class Watched {
public:
    Watched(pid_t command, int child_signals) : command_{command}, child_signals_{child_signals} {}

    void signal_group(int number) const {
        if (!ended_) ::kill(-command_, number);
    }

    /// Reaps all processes that have exited, except the command itself. While the command is a
    /// zombie, its process group id is not reused, so `signal_group` is safe. Returns true when the
    /// command has exited.
    bool has_ended() {
        clear_signals();
        for (;;) {
            siginfo_t found{};
            if (waitid(P_ALL, 0, &found, WEXITED | WNOHANG | WNOWAIT) != 0) return true;
            if (found.si_pid == 0) return false;
            if (found.si_pid == command_) return true;
            waitpid(found.si_pid, nullptr, 0);
        }
    }

    /// Kills all remaining processes. Returns the wait status of the command. If the command
    /// survives, returns the status of a process killed by SIGKILL.
    int end_all() {
        int status = SIGKILL;
        for (int round = 0; round < kill_rounds_max; ++round) {
            signal_group(SIGKILL);
            kill_children();
            for (;;) {
                int each = 0;
                const auto reaped = waitpid(-1, &each, WNOHANG);
                if (reaped < 0) return status;
                if (reaped == 0) break;
                if (reaped != command_) continue;
                status = each;
                ended_ = true;
            }
            pollfd more{child_signals_, POLLIN, 0};
            ::poll(&more, 1, kill_round_ms);
            clear_signals();
        }
        return status;
    }

private:
    void clear_signals() const {
        signalfd_siginfo some[8];
        while (::read(child_signals_, some, sizeof some) > 0) {
        }
    }

    const pid_t command_;
    const int child_signals_;
    // Whether the command was reaped, which means that its exit status was read.
    bool ended_ = false;
};

[[noreturn]] void report(int control, const CommandEnd& end) {
    [[maybe_unused]] const auto written = ::write(control, &end, sizeof end);
    _exit(0);
}

}  // namespace

void guard_command(const CommandToRun& command, int input, int output, int control) {
    const auto self = getpid();
    [[maybe_unused]] const auto written = ::write(control, &self, sizeof self);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::signal(SIGCHLD, SIG_DFL);
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, nullptr);
    const int child_signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    int failure[2];
    if (child_signals < 0 || pipe2(failure, O_CLOEXEC) != 0) report(control, {.error = errno});
    const auto pid = fork();
    if (pid < 0) report(control, {.error = errno});
    if (pid == 0) become(command, input, output, failure[1], self);
    setpgid(pid, pid);
    for (const int each : {input, output, failure[1]}) ::close(each);

    Watched watched{pid, child_signals};
    CommandEnd end;
    if (::read(failure[0], &end.error, sizeof end.error) == sizeof end.error) {
        watched.end_all();
        report(control, end);
    }
    pollfd both[] = {{control, POLLIN, 0}, {child_signals, POLLIN, 0}};
    while (!watched.has_ended()) {
        if (::poll(both, 2, -1) < 0 || both[0].revents == 0) continue;
        char asked = kill_all;
        const auto got = ::read(control, &asked, 1);
        if (got < 0 && errno == EINTR) continue;
        if (got == 1 && asked == ask_to_end) {
            watched.signal_group(SIGTERM);
        } else {
            break;
        }
    }
    end.status = watched.end_all();
    report(control, end);
}

}  // namespace routemaster::service
