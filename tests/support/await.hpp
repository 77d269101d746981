/// @file
/// Waiting for conditions that nothing signals.

#pragma once

#include <unistd.h>

#include <chrono>

namespace routemaster::test {

/// Polls until the condition holds; false when it does not in time.
template <class Condition>
[[nodiscard]] bool await(Condition condition,
                         std::chrono::milliseconds timeout = std::chrono::seconds{20}) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::usleep(2'000);
    }
    return true;
}

}  // namespace routemaster::test
