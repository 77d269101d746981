#include "components/command_keeper.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "routemaster/error.hpp"

namespace routemaster::service {
namespace {

/// Maximum size of a request, in bytes of words and variables. The buffer of the receiver is a
/// little larger.
constexpr std::size_t request_bytes_max = std::size_t{128} << 10U;

using Descriptors = std::array<int, 3>;  // Input, output, control.

Error failed(const char* what) {
    return {Errc::unavailable, std::string{what} + ": " + std::generic_category().message(errno)};
}

/// Serialises a command: the number of words, then the words and the variables, each terminated by
/// a NUL.
std::string packed(const CommandToRun& command) {
    auto text = std::to_string(command.words.size()) + '\0';
    for (const auto* texts : {&command.words, &command.variables}) {
        for (const auto& each : *texts) text.append(each).push_back('\0');
    }
    return text;
}

CommandToRun unpacked(std::string_view text) {
    std::vector<std::string> all;
    while (!text.empty()) {
        const auto end = text.find('\0');
        all.emplace_back(text.substr(0, end));
        text.remove_prefix(end + 1);
    }
    const auto words = static_cast<std::ptrdiff_t>(std::stoul(all.front()));
    return {{all.begin() + 1, all.begin() + 1 + words}, {all.begin() + 1 + words, all.end()}};
}

/// A message with descriptors, in the form required by `sendmsg` and `recvmsg`.
struct Message {
    explicit Message(char* bytes, std::size_t size) : part{bytes, size} {
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = space;
        header.msg_controllen = sizeof space;
    }

    iovec part;
    alignas(cmsghdr) char space[CMSG_SPACE(sizeof(Descriptors))]{};
    msghdr header{};
};

bool send(int to, std::string text, const Descriptors& descriptors) {
    Message message{text.data(), text.size()};
    auto* const control = CMSG_FIRSTHDR(&message.header);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(sizeof descriptors);
    std::memcpy(CMSG_DATA(control), descriptors.data(), sizeof descriptors);
    for (;;) {
        if (::sendmsg(to, &message.header, MSG_NOSIGNAL) >= 0) return true;
        if (errno != EINTR) return false;
    }
}

/// Main loop of the separate process: forks a guard for each request. Exits when the worker has
/// exited.
[[noreturn]] void keep(int requests) {
    // Signals from the terminal, or from a service manager to all processes of the service, must
    // not end this process before its worker. Therefore it gets a new session, and ignores the
    // signals.
    setsid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(signal, SIG_IGN);
    std::signal(SIGCHLD, SIG_IGN);  // Guards that exit leave no zombies.
    prctl(PR_SET_NAME, "routemaster-run");
    const int nothing = ::open("/dev/null", O_RDWR);
    for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, each);
    constexpr int at = STDERR_FILENO + 1;
    if (requests != at) dup2(requests, at);
    close_range(at + 1, UINT_MAX, 0);
    std::string buffer(request_bytes_max + 64, '\0');
    for (;;) {
        Message message{buffer.data(), buffer.size()};
        const auto got = ::recvmsg(at, &message.header, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) _exit(0);
        Descriptors descriptors{};
        std::memcpy(descriptors.data(), CMSG_DATA(CMSG_FIRSTHDR(&message.header)),
                    sizeof descriptors);
        const auto [input, output, control] = descriptors;
        const auto guard = fork();
        if (guard == 0) {
            ::close(at);
            guard_command(unpacked({buffer.data(), static_cast<std::size_t>(got)}), input, output,
                          control);
        }
        if (guard < 0) {
            const struct {
                pid_t nobody = 0;
                CommandEnd end{.error = errno};
            } report;
            [[maybe_unused]] const auto written = ::write(control, &report, sizeof report);
        }
        for (const int each : descriptors) ::close(each);
    }
}

}  // namespace

CommandKeeper::CommandKeeper() {
    int both[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both) != 0) {
        throw Failure{failed("socketpair")};
    }
    requests_ = Descriptor{both[0]};
    Descriptor theirs{both[1]};
    pid_ = fork();
    if (pid_ < 0) throw Failure{failed("fork")};
    if (pid_ == 0) keep(theirs.get());
}

CommandKeeper::~CommandKeeper() {
    // When `requests_` is closed, the process exits by itself, unless a signal has stopped it.
    requests_.close();
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

Result<StartedCommand> CommandKeeper::start(const CommandToRun& command) const {
    auto text = packed(command);
    if (text.size() > request_bytes_max) {
        return Error{Errc::invalid, "the command and its variables take more than " +
                                        std::to_string(request_bytes_max) + " bytes"};
    }
    int input[2];
    int output[2];
    int control[2];
    if (pipe2(input, O_CLOEXEC) != 0) return failed("pipe");
    Descriptor to_read{input[0]};
    StartedCommand started{.input = Descriptor{input[1]}, .output = {}, .control = {}};
    if (pipe2(output, O_CLOEXEC) != 0) return failed("pipe");
    Descriptor to_write{output[1]};
    started.output = Descriptor{output[0]};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0) return failed("socket");
    started.control = Descriptor{control[0]};
    Descriptor theirs{control[1]};
    // Only the worker's ends of the pipes become non-blocking, because commands expect blocking
    // streams.
    for (const int each : {input[1], output[0]}) ::fcntl(each, F_SETFL, O_NONBLOCK);
    if (!send(requests_.get(), std::move(text), {to_read.get(), to_write.get(), theirs.get()})) {
        return failed("cannot reach the process that starts commands");
    }
    return Result<StartedCommand>{std::move(started)};
}

}  // namespace routemaster::service
