/// @file
/// A token bucket without rounding errors.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A token bucket by the generic cell rate algorithm (ITU-T Recommendation I.371, annex A, virtual
/// scheduling). Stores no number of tokens, but the instant when the bucket is full. Each taken
/// token moves this instant by `per / jobs`. The fraction of a millisecond is counted in units of
/// `1 / jobs`, so nothing is rounded.
///
/// The bucket is full at first. When the clock is set back, the bucket is empty at worst, and fills
/// as fast as an empty bucket. When the clock is set forward, the bucket is full at best. All calls
/// for a bucket must pass an equal limit. Not thread safe.
///
/// The caller passes the time. Calls may come slightly out of order, as steps travel and clocks
/// differ. A time up to `late_max` before the time of an earlier call means a late call, not a
/// clock set back. Otherwise each late call to an empty bucket would make the bucket full earlier,
/// and give away tokens.
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

    /// When the bucket has a token, if `taken` of its tokens are taken now; `now` if a token is
    /// left.
    [[nodiscard]] TimePoint next(const RateLimit& limit, TimePoint now,
                                 std::uint32_t taken = 0) const noexcept {
        const auto per = limit.per.count();
        const auto over = missing(limit, now) + (std::int64_t{taken} + 1) * per - capacity(limit);
        if (over <= 0) return now;
        const std::int64_t jobs = limit.jobs;
        return saturating_add(now, Duration{(over + jobs - 1) / jobs});
    }

    /// Takes `count` tokens, which the bucket must have. With 0, only adapts the bucket to a clock
    /// that was set back. For a full bucket, 0 stores nothing: the bucket stays full when the clock
    /// is set back later.
    void take(const RateLimit& limit, std::uint32_t count, TimePoint now) noexcept {
        const auto lacks = missing(limit, now) + std::int64_t{count} * limit.per.count();
        if (count == 0 && lacks <= 0) return;
        const std::int64_t jobs = limit.jobs;
        full_at_ = saturating_add(now, Duration{lacks < 0 ? -1 : lacks / jobs});
        rest_ = lacks < 0 ? lacks + jobs : lacks % jobs;
    }

    /// Whether the bucket is as full as a new bucket.
    [[nodiscard]] bool full(const RateLimit& limit, TimePoint now) const noexcept {
        return missing(limit, now) == 0;
    }

private:
    /// Content of a full bucket. A token is `per` units.
    static std::int64_t capacity(const RateLimit& limit) noexcept {
        return std::int64_t{limit.tokens_max()} * limit.per.count();
    }

    /// Units missing from a full bucket, at most 2.7e15, exact in Redis as well. The result can
    /// exceed the capacity for a late call to an empty bucket. It is negative in the millisecond in
    /// which the bucket becomes full: otherwise a bucket of one token would lose this fraction with
    /// each token.
    [[nodiscard]] std::int64_t missing(const RateLimit& limit, TimePoint now) const noexcept {
        const auto most = capacity(limit);
        const std::int64_t jobs = limit.jobs;
        if (full_at_ < saturating_add(now, Duration{-1})) return 0;
        if (full_at_ > saturating_add(now, Duration{most / jobs} + late_max)) return most;
        const auto lacks = (full_at_ - now).count() * jobs + rest_;
        return lacks <= -jobs ? 0 : lacks;
    }

    TimePoint full_at_ = TimePoint::min();
    std::int64_t rest_ = 0;  ///< In units of `1 / jobs` ms, less than 1 ms.
};

}  // namespace routemaster::detail
