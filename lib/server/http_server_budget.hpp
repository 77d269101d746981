/// @file
/// The memory that all bodies may take together.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace routemaster::detail {

/// Counts the bytes that are set aside for bodies of requests that have no answer yet.
///
/// Thread safety: all members from any thread.
class BodyBudget {
public:
    /// The largest body always fits, alone.
    BodyBudget(std::size_t bytes_max, std::size_t body_max) noexcept
        : bytes_max_{std::max(bytes_max, body_max)} {}

    /// Sets `bytes` more aside; false, and nothing, when that would be too many.
    [[nodiscard]] bool take(std::size_t bytes) noexcept {
        const auto before = used_.fetch_add(bytes, std::memory_order_relaxed);
        if (bytes <= bytes_max_ && before <= bytes_max_ - bytes) return true;
        give(bytes);
        return false;
    }

    void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }

private:
    const std::size_t bytes_max_;
    std::atomic<std::size_t> used_{0};
};

}  // namespace routemaster::detail
