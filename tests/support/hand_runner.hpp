/// @file
/// Runs an active object on a manual clock.

#pragma once

#include <doctest/doctest.h>

#include <utility>

#include "routemaster/active.hpp"

namespace routemaster::test {

/// Does for an active object what a `Runner` does, in the calling thread: polls it only when it
/// asked for it or was woken.
class HandRunner {
public:
    explicit HandRunner(Active& active) : active_{active} {
        active_.wake_with([this] { woken_ = true; });
    }
    HandRunner(const HandRunner&) = delete;
    HandRunner& operator=(const HandRunner&) = delete;
    ~HandRunner() { active_.wake_with({}); }

    /// Lets the next `run` poll at once.
    void wake() { woken_ = true; }

    /// Polls until the object asks for a later instant; returns that.
    TimePoint run(TimePoint now) {
        for (int polls = 0; std::exchange(woken_, false) || next_ <= now; ++polls) {
            REQUIRE_MESSAGE(polls < 100'000, "the object asks to be polled for ever");
            next_ = active_.poll(now);
        }
        return next_;
    }

    /// When to poll it next.
    [[nodiscard]] TimePoint next() const { return next_; }

private:
    Active& active_;
    bool woken_ = false;
    TimePoint next_ = TimePoint::min();
};

}  // namespace routemaster::test
