/// @file
/// Waits for the signals that ask the process to end.

#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace routemaster::service {

/// SIGTERM and SIGINT, taken by waiting for them rather than by a handler. A SIGINT that was
/// ignored from the start, as for a background job of a script, stays ignored.
///
/// SIGHUP does the same, or calls `hangup` from within `wait` instead, if there is one.
///
/// Construct it before any thread begins, so that all of them leave the signals alone.
class StopSignals {
public:
    explicit StopSignals(std::function<void()> hangup = {});

    /// Waits for the first signal and tells which it was. From then on the next one ends the
    /// process at once.
    int wait();

private:
    friend class EndAtOnce;

    std::function<void()> hangup_;
    sigset_t waited_for_{};
    sigset_t ending_{};
};

/// While it lives, a signal calls `told` and ends the process at once: for the time before the
/// process is at work, which may be long.
class EndAtOnce {
public:
    EndAtOnce(const StopSignals& signals, std::function<void()> told);
    ~EndAtOnce();
    EndAtOnce(const EndAtOnce&) = delete;
    EndAtOnce& operator=(const EndAtOnce&) = delete;

private:
    void work() const;

    sigset_t ending_;
    std::function<void()> told_;
    int signals_;
    int over_;
    std::thread thread_;
};

}  // namespace routemaster::service
