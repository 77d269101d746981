/// @file
/// The interface of all objects that act by themselves.

#pragma once

#include <functional>

#include "routemaster/time.hpp"

namespace routemaster {

/// An object that acts when it is polled, and returns when to poll it next. It has no thread and no
/// clock: a `Runner` gives it both, a test gives it a manual clock.
///
/// Thread safety: `poll`, `wake_with`, `close` and `closed` from one thread at a time.
class Active {
public:
    virtual ~Active() = default;

    /// Does what is due, a bounded amount, and returns when to call again: at that instant, or
    /// sooner when woken. Returns `now` when there is more to do at once.
    virtual TimePoint poll(TimePoint now) = 0;

    /// From now on, calls `wake`, from any threads, also at once, when `poll` should be called
    /// sooner than it returned. `wake` does not block and does not call back.
    virtual void wake_with(std::function<void()> wake) = 0;

    /// Begins an orderly end: begins nothing new, and lets work under way end by `deadline`. Keep
    /// polling until `closed`.
    virtual void close(TimePoint deadline) = 0;

    /// Whether the orderly end is complete.
    [[nodiscard]] virtual bool closed() const = 0;
};

}  // namespace routemaster
