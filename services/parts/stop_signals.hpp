/// @file
/// Waits for the signals that ask the process to end.

#pragma once

#include <csignal>

namespace routemaster::service {

/// SIGTERM and SIGINT, taken by waiting for them rather than by a handler. A SIGINT that was
/// ignored from the start, as for a background job of a script, stays ignored.
///
/// Construct it before any thread begins, so that all of them leave the signals alone.
class StopSignals {
public:
    StopSignals();

    /// Waits for the first signal and tells which it was. From then on the next one ends the
    /// process at once.
    int wait();

private:
    sigset_t signals_{};
};

}  // namespace routemaster::service
