/// @file
/// `HandRunner`: runs an active object on a manual clock.

#pragma once

#include <doctest/doctest.h>

#include <utility>

#include "routemaster/active.hpp"

namespace routemaster::test {

/// Drives an active object as a `Runner` does, but in the calling thread: polls it only at its
/// requested time or after a wake-up.
class HandRunner {
public:
    explicit HandRunner(Active& active) : active_{active} {
        active_.wake_with([this] { woken_ = true; });
    }
    HandRunner(const HandRunner&) = delete;
    HandRunner& operator=(const HandRunner&) = delete;
    ~HandRunner() { active_.wake_with({}); }

    /// Makes the next `run` poll immediately.
    void wake() { woken_ = true; }

    /// Polls until the object requests a later instant. Returns this instant.
    TimePoint run(TimePoint now) {
        for (int polls = 0; std::exchange(woken_, false) || next_ <= now; ++polls) {
            REQUIRE_MESSAGE(polls < 100'000, "the object asks to be polled for ever");
            next_ = active_.poll(now);
        }
        return next_;
    }

    /// The instant of the next poll.
    [[nodiscard]] TimePoint next() const { return next_; }

private:
    Active& active_;
    bool woken_ = false;
    TimePoint next_ = TimePoint::min();
};

}  // namespace routemaster::test
