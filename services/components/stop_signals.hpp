/// @file
/// Waits for the signals that ask the process to end.

#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace routemaster::service {

/// Waits for SIGTERM and SIGINT instead of handling them. A SIGINT that was ignored from the start,
/// as for a background job of a script, stays ignored.
///
/// SIGHUP does the same, or, if `hangup` is set, makes `wait` call it.
///
/// Construct it before any thread starts, so that all threads block the signals.
class StopSignals {
public:
    explicit StopSignals(std::function<void()> hangup = {});

    /// Waits for the first signal and returns its number. From then on the next one ends the
    /// process at once.
    int wait();

private:
    friend class EndAtOnce;

    std::function<void()> hangup_;
    sigset_t waited_for_{};
    sigset_t ending_{};
};

/// While it lives, a signal calls `signalled` and ends the process at once: for the start of the
/// process, which may take long.
class EndAtOnce {
public:
    EndAtOnce(const StopSignals& signals, std::function<void()> signalled);
    ~EndAtOnce();
    EndAtOnce(const EndAtOnce&) = delete;
    EndAtOnce& operator=(const EndAtOnce&) = delete;

private:
    void work() const;

    sigset_t ending_;
    std::function<void()> signalled_;
    int signals_;
    int over_;
    std::thread thread_;
};

}  // namespace routemaster::service
