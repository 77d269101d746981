/// @file
/// A token bucket, exact to the token.

#pragma once

#include <algorithm>
#include <cstdint>

#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A token bucket as the generic cell rate algorithm keeps it (ITU-T Recommendation I.371, annex A,
/// as virtual scheduling): no count of tokens, but the instant at which the bucket is full. Each
/// token that is taken puts that off by `per / jobs`. The instant has a fraction, counted in parts
/// of a millisecond of which there are `jobs`, so nothing is ever rounded and no error adds up.
///
/// A clock that is set back finds an empty bucket at worst: it never waits longer than an empty one
/// takes to fill. One that is set forward finds a full one at best. It begins full. All members of
/// one bucket get the same limit. Not thread safe.
///
/// Who comes says when it is, and may have said so a moment ago: a step travels, and clocks differ.
/// An instant up to `late_max` before others is no clock that was set back, or whoever comes late
/// to an empty bucket would fill it up to that instant, and the next one once more.
class TokenBucket {
public:
    static constexpr Duration late_max{1'000};

    /// One without a token.
    [[nodiscard]] static TokenBucket emptied(const RateLimit& limit, TimePoint now) noexcept {
        TokenBucket bucket;
        bucket.take(limit, limit.tokens_max(), now);
        return bucket;
    }

    [[nodiscard]] std::uint32_t tokens(const RateLimit& limit, TimePoint now) const noexcept {
        const auto left = std::max(capacity(limit) - missing(limit, now), std::int64_t{0});
        return std::min(static_cast<std::uint32_t>(left / limit.per.count()), limit.tokens_max());
    }

    /// When it has a token, if `taken` of those that it has are taken now; `now` if it has one.
    [[nodiscard]] TimePoint next(const RateLimit& limit, TimePoint now,
                                 std::uint32_t taken = 0) const noexcept {
        const auto per = limit.per.count();
        const auto over = missing(limit, now) + (std::int64_t{taken} + 1) * per - capacity(limit);
        if (over <= 0) return now;
        const std::int64_t jobs = limit.jobs;
        return saturating_add(now, Duration{(over + jobs - 1) / jobs});
    }

    /// Takes tokens that it has. None: only notes that the clock was set back, if it was. One that
    /// is full then says nothing of `now`, to be full still when the clock is set back later.
    void take(const RateLimit& limit, std::uint32_t count, TimePoint now) noexcept {
        const auto lacks = missing(limit, now) + std::int64_t{count} * limit.per.count();
        if (count == 0 && lacks <= 0) return;
        const std::int64_t jobs = limit.jobs;
        full_at_ = saturating_add(now, Duration{lacks < 0 ? -1 : lacks / jobs});
        rest_ = lacks < 0 ? lacks + jobs : lacks % jobs;
    }

    /// Whether it is like one that begins.
    [[nodiscard]] bool full(const RateLimit& limit, TimePoint now) const noexcept {
        return missing(limit, now) == 0;
    }

private:
    /// All that it holds. A token is `per` of these.
    static std::int64_t capacity(const RateLimit& limit) noexcept {
        return std::int64_t{limit.tokens_max()} * limit.per.count();
    }

    /// How much of that it lacks, which for one who comes late is more than all. At most 2.7e15,
    /// so the numbers of Redis are exact as well. Less than 0 in the millisecond in which it became
    /// full: who comes then does not come too late, or a bucket of one token would lose a fraction
    /// with each.
    [[nodiscard]] std::int64_t missing(const RateLimit& limit, TimePoint now) const noexcept {
        const auto most = capacity(limit);
        const std::int64_t jobs = limit.jobs;
        if (full_at_ < saturating_add(now, Duration{-1})) return 0;
        if (full_at_ > saturating_add(now, Duration{most / jobs} + late_max)) return most;
        const auto lacks = (full_at_ - now).count() * jobs + rest_;
        return lacks <= -jobs ? 0 : lacks;
    }

    TimePoint full_at_ = TimePoint::min();
    std::int64_t rest_ = 0;  ///< In parts of a millisecond, less than one.
};

}  // namespace routemaster::detail
