/// @file
/// Rate limits: how many jobs of a queue, or of each of its ordering groups, begin in a span of
/// time.

#pragma once

#include <cstdint>
#include <optional>

#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Jobs that a rate limit allows in its span of time, and in a burst, at most.
inline constexpr std::uint32_t rate_limit_jobs_max = 1'000'000;

/// The longest span of time of a rate limit: 31 days.
inline constexpr Duration rate_limit_per_max{std::int64_t{31} * 86'400'000};

/// A rate limit: a token bucket. It holds at most `burst` tokens, and gets `jobs` of them in each
/// `per`, one after the other, at equal distances. A job takes one when it begins. So in any span
/// of time begin at most `burst` jobs and those for which tokens came meanwhile; with the default
/// burst that is up to twice `jobs` in one `per`, and exactly `jobs` in each in the long run.
struct RateLimit {
    std::uint32_t jobs = 1;   ///< From 1 to `rate_limit_jobs_max`.
    Duration per{1'000};      ///< From 1 ms to `rate_limit_per_max`.
    std::uint32_t burst = 0;  ///< At most `rate_limit_jobs_max`; 0: as many as `jobs`.

    /// Tokens that the bucket holds when it is full.
    [[nodiscard]] constexpr std::uint32_t tokens_max() const noexcept {
        return burst == 0 ? jobs : burst;
    }

    friend constexpr bool operator==(const RateLimit& one, const RateLimit& other) noexcept {
        return one.jobs == other.jobs && one.per == other.per &&
               one.tokens_max() == other.tokens_max();
    }
};

/// The rate limits of a queue. By default there are none.
struct RateLimits {
    std::optional<RateLimit> queue{};       ///< Of all its jobs together.
    std::optional<RateLimit> each_group{};  ///< Of each of its ordering groups by itself.

    /// `invalid`, naming the field, when a number is out of its range.
    [[nodiscard]] Result<void> check() const;

    friend bool operator==(const RateLimits&, const RateLimits&) = default;
};

}  // namespace routemaster
