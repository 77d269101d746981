/// @file
/// `await`: waits for a condition without a notification.

#pragma once

#include <unistd.h>

#include <chrono>

namespace routemaster::test {

/// Polls until the condition is true. Returns false at the timeout.
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
