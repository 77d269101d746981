/// @file
/// Subscribers that fail every delivery, as one dispatcher sees them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

namespace routemaster::detail {

/// A circuit breaker (M. Nygard, "Release It!", 2007) for each subscriber: it opens after some
/// consecutive failures, and then lets one delivery at a time probe whether the subscriber is back.
/// A success closes it.
class CircuitBreakers {
public:
    /// Consecutive failures that open a breaker.
    static constexpr std::uint32_t failures_max = 8;
    /// Failures of a batch beyond so many attempts say nothing of its subscriber. They let the next
    /// batch probe it, so that a batch that is never accepted does not block all behind it.
    static constexpr std::uint32_t attempts_max = 6;

    /// Counts a success.
    void succeeded(const std::string& subscriber) {
        if (!failures_.empty()) failures_.erase(subscriber);
    }

    /// Counts a failure of the given attempt of a batch. Whether the subscriber may have no more
    /// than one delivery under way for now.
    [[nodiscard]] bool failed(const std::string& subscriber, std::uint32_t attempt) {
        if (failures_.size() >= remembered_max) failures_.clear();
        auto& failures = failures_[subscriber];
        if (failures < failures_max) ++failures;
        return failures == failures_max && attempt <= attempts_max;
    }

private:
    static constexpr std::size_t remembered_max = 10'000;

    std::unordered_map<std::string, std::uint32_t> failures_;  // Since the last success.
};

}  // namespace routemaster::detail
