/// @file
/// Waits for signals that stop a process.

#pragma once

#include <csignal>
#include <functional>
#include <thread>

namespace routemaster::service {

/// Blocks SIGTERM and SIGINT, and waits for them. If SIGINT was ignored when the process started,
/// as in a background job of a script, it stays ignored.
///
/// SIGHUP ends the wait, too, unless `hangup` is set. Then `wait` calls `hangup` at SIGHUP, and
/// continues.
///
/// Must be constructed before any thread starts, because threads inherit the blocked signals.
class StopSignals {
public:
    explicit StopSignals(std::function<void()> hangup = {});

    /// Waits for the first signal and returns its number. A second signal ends the process at once.
    int wait();

private:
    friend class EndAtOnce;

    std::function<void()> hangup_;
    sigset_t waited_for_{};
    sigset_t ending_{};
};

/// RAII object that makes signals end the process at once, after a call of `signalled`. Used during
/// the start of the process, which may take long.
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
