/// @file
/// The memory budget for request bodies of a server.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace routemaster::detail {

/// Counter of the bytes reserved for bodies of requests without a response. Thread safe.
class BodyBudget {
public:
    /// The budget is at least `body_max`, so that a single body is always accepted.
    BodyBudget(std::size_t bytes_max, std::size_t body_max) noexcept
        : bytes_max_{std::max(bytes_max, body_max)} {}

    /// Reserves `bytes`. Returns false without reserving if this would exceed the budget.
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
