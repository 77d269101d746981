#include "parts/stop_signals.hpp"

namespace routemaster::service {

StopSignals::StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    struct sigaction interrupt {};
    sigaction(SIGINT, nullptr, &interrupt);
    if (interrupt.sa_handler != SIG_IGN) sigaddset(&signals_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
}

int StopSignals::wait() {
    int signal = 0;
    sigwait(&signals_, &signal);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    return signal;
}

}  // namespace routemaster::service
