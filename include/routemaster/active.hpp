/// @file
/// `Active`: the interface of objects that a thread polls.

#pragma once

#include <functional>

#include "routemaster/time.hpp"

namespace routemaster {

/// Interface of an object that does its work in `poll`, and returns when to poll it next. The
/// object has no thread and no clock: a `Runner` provides both, and a test provides a manual clock.
///
/// Thread safety: `poll`, `wake_with`, `close` and `closed` must be called from one thread at a
/// time.
class Active {
public:
    virtual ~Active() = default;

    /// Performs due work, a bounded amount per call. Returns the time of the next `poll`; a wake-up
    /// requests an earlier `poll`. Returns `now` when more work is already due.
    virtual TimePoint poll(TimePoint now) = 0;

    /// Sets the function that requests an early poll. From now on the object calls `wake` when
    /// `poll` is needed sooner than `poll` returned. The object may call `wake` on any thread, and
    /// also before `wake_with` returns. `wake` must not block, and must not call this object.
    virtual void wake_with(std::function<void()> wake) = 0;

    /// Begins an orderly stop. No new work begins, and unfinished work may finish until `deadline`.
    /// The caller must continue polling until `closed` returns true.
    virtual void close(TimePoint deadline) = 0;

    /// Whether the orderly stop is complete.
    [[nodiscard]] virtual bool closed() const = 0;
};

}  // namespace routemaster
