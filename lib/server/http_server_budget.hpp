/// @file
/// The memory budget of all bodies together.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace routemaster::detail {

/// Counts the bytes reserved for bodies of requests without an answer.
///
/// Thread safety: all members from any thread.
class BodyBudget {
public:
    /// The largest body always fits when it is the only one.
    BodyBudget(std::size_t bytes_max, std::size_t body_max) noexcept
        : bytes_max_{std::max(bytes_max, body_max)} {}

    /// Reserves `bytes` more. Returns false, and reserves nothing, when that would exceed the
    /// budget.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        const auto before = used_.fetch_add(bytes, std::memory_order_relaxed);
        if (bytes <= bytes_max_ && before <= bytes_max_ - bytes) return true;
        release(bytes);
        return false;
    }

    void release(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    const std::size_t bytes_max_;
    std::atomic<std::size_t> used_{0};
};

}  // namespace routemaster::detail
