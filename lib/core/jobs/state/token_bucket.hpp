/// @file
/// `TokenBucket`: a rate limiter without rounding errors.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Token bucket by the generic cell rate algorithm (ITU-T Recommendation I.371, annex A, virtual
/// scheduling). Instead of a number of tokens, it stores the instant when the bucket will be full.
/// Each token taken moves this instant by `per / jobs`. The fraction of a millisecond is counted in
/// units of `1 / jobs`, so nothing is rounded.
///
/// The bucket is full at first. If the clock is set back, the bucket is at worst empty, and then
/// refills at the normal rate. If the clock is set forward, the bucket is at most full. All calls
/// for a bucket must pass an equal limit. Not thread safe.
///
/// The caller passes the time. Calls may arrive slightly out of order, because steps take time to
/// reach the store and clocks differ. A time up to `late_max` before the time of an earlier call
/// therefore counts as a late call, and not as a clock set back. Otherwise each late call to an
/// empty bucket would make the bucket full earlier, and create additional tokens.
class TokenBucket {
public:
    static constexpr Duration late_max{1'000};

    [[nodiscard]] static TokenBucket emptied(const RateLimit& limit, TimePoint now) noexcept {
        TokenBucket bucket;
        bucket.take(limit, limit.tokens_max(), now);
        return bucket;
    }

    [[nodiscard]] std::uint32_t tokens(const RateLimit& limit, TimePoint now) const noexcept {
        const auto left = std::max(capacity(limit) - missing(limit, now), std::int64_t{0});
        return std::min(static_cast<std::uint32_t>(left / limit.per.count()), limit.tokens_max());
    }

    /// When the bucket next has a token after `taken` tokens are taken now. `now` if a token
    /// remains.
    [[nodiscard]] TimePoint next(const RateLimit& limit, TimePoint now,
                                 std::uint32_t taken = 0) const noexcept {
        const auto per = limit.per.count();
        const auto over = missing(limit, now) + (std::int64_t{taken} + 1) * per - capacity(limit);
        if (over <= 0) return now;
        const std::int64_t jobs = limit.jobs;
        return saturating_add(now, Duration{(over + jobs - 1) / jobs});
    }

    /// Takes `count` tokens, which the bucket must have. With a `count` of 0, only adapts the
    /// bucket to a clock that was set back. A full bucket then does not change.
    void take(const RateLimit& limit, std::uint32_t count, TimePoint now) noexcept {
        const auto lacks = missing(limit, now) + std::int64_t{count} * limit.per.count();
        if (count == 0 && lacks <= 0) return;
        const std::int64_t jobs = limit.jobs;
        full_at_ = saturating_add(now, Duration{lacks < 0 ? -1 : lacks / jobs});
        rest_ = lacks < 0 ? lacks + jobs : lacks % jobs;
    }

    [[nodiscard]] bool full(const RateLimit& limit, TimePoint now) const noexcept {
        return missing(limit, now) == 0;
    }

private:
    /// The content of a full bucket, in units. A token has `per` units.
    static std::int64_t capacity(const RateLimit& limit) noexcept {
        return std::int64_t{limit.tokens_max()} * limit.per.count();
    }

    /// The number of units missing from a full bucket, at most 2.7e15, which Redis can represent
    /// exactly, too. For a late call to an empty bucket, the result can exceed the capacity. In the
    /// millisecond in which the bucket becomes full, the result is negative. Otherwise a bucket of
    /// one token would lose the fraction of a millisecond with each token.
    [[nodiscard]] std::int64_t missing(const RateLimit& limit, TimePoint now) const noexcept {
        const auto most = capacity(limit);
        const std::int64_t jobs = limit.jobs;
        if (full_at_ < saturating_add(now, Duration{-1})) return 0;
        if (full_at_ > saturating_add(now, Duration{most / jobs} + late_max)) return most;
        const auto lacks = (full_at_ - now).count() * jobs + rest_;
        return lacks <= -jobs ? 0 : lacks;
    }

    TimePoint full_at_ = TimePoint::min();
    std::int64_t rest_ = 0;  ///< Fraction of `full_at_`, in units of `1 / jobs` ms; below 1 ms.
};

}  // namespace routemaster::detail
