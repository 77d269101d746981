/// @file
/// `RateLimit`: how many jobs of a queue, or of each of its ordering groups, may begin per span of
/// time.

#pragma once

#include <cstdint>
#include <optional>

#include "routemaster/result.hpp"
#include "routemaster/time.hpp"

namespace routemaster {

/// Maximum of `jobs` and `burst` of a rate limit.
inline constexpr std::uint32_t rate_limit_jobs_max = 1'000'000;

/// Maximum of `per` of a rate limit: 31 days.
inline constexpr Duration rate_limit_per_max{std::int64_t{31} * 86'400'000};

/// A rate limit, implemented as a token bucket. The bucket contains at most `burst` tokens. In each
/// `per`, `jobs` tokens are added, one by one, at equal intervals. Each job consumes a token when
/// it begins. In any span of time, at most `burst` jobs plus the number of added tokens can thus
/// begin. With the default burst, up to twice `jobs` may begin in a single `per`; the average is at
/// most `jobs` per `per`.
struct RateLimit {
    std::uint32_t jobs = 1;   ///< From 1 to `rate_limit_jobs_max`.
    Duration per{1'000};      ///< From 1 ms to `rate_limit_per_max`.
    std::uint32_t burst = 0;  ///< At most `rate_limit_jobs_max`; 0: equal to `jobs`.

    /// The capacity of the bucket, in tokens.
    [[nodiscard]] constexpr std::uint32_t tokens_max() const noexcept {
        return burst == 0 ? jobs : burst;
    }

    friend constexpr bool operator==(const RateLimit& one, const RateLimit& other) noexcept {
        return one.jobs == other.jobs && one.per == other.per &&
               one.tokens_max() == other.tokens_max();
    }
};

/// The rate limits of a queue. Default: no limits.
struct RateLimits {
    std::optional<RateLimit> queue{};       ///< For all jobs of the queue together.
    std::optional<RateLimit> each_group{};  ///< For each ordering group of the queue separately.

    /// Validates the limits. If a number is out of its range, the error is `invalid` and names the
    /// field.
    [[nodiscard]] Result<void> check() const;

    friend bool operator==(const RateLimits&, const RateLimits&) = default;
};

}  // namespace routemaster
