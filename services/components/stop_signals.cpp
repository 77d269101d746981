#include "components/stop_signals.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace routemaster::service {
namespace {

bool is_ignored(int signal) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    return action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> hangup) : hangup_{std::move(hangup)} {
    sigemptyset(&ending_);
    sigaddset(&ending_, SIGTERM);
    if (!is_ignored(SIGINT)) sigaddset(&ending_, SIGINT);
    if (!hangup_ && !is_ignored(SIGHUP)) sigaddset(&ending_, SIGHUP);
    waited_for_ = ending_;
    if (hangup_ && !is_ignored(SIGHUP)) sigaddset(&waited_for_, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &waited_for_, nullptr);
}

int StopSignals::wait() {
    int signal = 0;
    while (true) {
        sigwait(&waited_for_, &signal);
        if (sigismember(&ending_, signal) == 1) break;
        hangup_();
    }
    pthread_sigmask(SIG_UNBLOCK, &ending_, nullptr);
    return signal;
}

EndAtOnce::EndAtOnce(const StopSignals& signals, std::function<void()> signalled)
    : ending_{signals.ending_},
      signalled_{std::move(signalled)},
      signals_{signalfd(-1, &ending_, SFD_CLOEXEC)},
      over_{eventfd(0, EFD_CLOEXEC)},
      thread_{[this] { work(); }} {}

EndAtOnce::~EndAtOnce() {
    eventfd_write(over_, 1);
    thread_.join();
    ::close(signals_);
    ::close(over_);
}

void EndAtOnce::work() const {
    pollfd watched[] = {{signals_, POLLIN, 0}, {over_, POLLIN, 0}};
    while (::poll(watched, 2, -1) < 0) {
    }
    signalfd_siginfo got{};
    if (watched[1].revents != 0 || ::read(signals_, &got, sizeof got) != sizeof got) return;
    signalled_();
    // Raises the signal again, unblocked. The parent process then sees that the signal ended this
    // process.
    pthread_sigmask(SIG_UNBLOCK, &ending_, nullptr);
    ::kill(::getpid(), static_cast<int>(got.ssi_signo));
}

}  // namespace routemaster::service
