/// @file
/// `Active`: the interface of polled objects.

#pragma once

#include <functional>

#include "routemaster/time.hpp"

namespace routemaster {

/// An object that does its work in `poll`, and returns when to poll next. The object has no thread
/// and no clock: a `Runner` provides both, and a test provides a manual clock.
///
/// Thread safety: `poll`, `wake_with`, `close` and `closed` must be called from one thread at a
/// time.
class Active {
public:
    virtual ~Active() = default;

    /// Does due work, of a bounded amount. Returns when to call `poll` again: at that instant, or
    /// earlier after a wake-up. Returns `now` when more work is due at once.
    virtual TimePoint poll(TimePoint now) = 0;

    /// Sets the function that requests an early poll. From now on the object calls `wake` when
    /// `poll` is needed sooner than `poll` returned. The call comes from any thread, possibly
    /// inside `wake_with`. `wake` must not block, and must not call this object.
    virtual void wake_with(std::function<void()> wake) = 0;

    /// Begins an orderly stop: no new work begins, and work under way may finish until `deadline`.
    /// Keep polling until `closed` returns true.
    virtual void close(TimePoint deadline) = 0;

    /// Whether the orderly stop is complete.
    [[nodiscard]] virtual bool closed() const = 0;
};

}  // namespace routemaster
