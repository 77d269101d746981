/// @file
/// Waits for the signals that ask a process to stop.

#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace routemaster::service {

/// Waits for SIGTERM and SIGINT, and blocks both. A SIGINT that was ignored when the process
/// started, as in a background job of a script, stays ignored.
///
/// SIGHUP also ends the wait. If `hangup` is set, `wait` calls `hangup` at SIGHUP and continues.
///
/// Must be constructed before any thread starts, because threads inherit the blocked signals.
class StopSignals {
public:
    explicit StopSignals(std::function<void()> hangup = {});

    /// Waits for the first signal and returns its number. A later signal ends the process at once.
    int wait();

private:
    friend class EndAtOnce;

    std::function<void()> hangup_;
    sigset_t waited_for_{};
    sigset_t ending_{};
};

/// As long as this object exists, a signal calls `signalled` and ends the process at once. Used
/// during the possibly long start of the process.
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
