/// @file
/// The rate limits of a queue, as a journal stores them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/state/named.hpp"
#include "routemaster/rate_limit.hpp"

namespace routemaster::detail {

/// A queue with rate limits. The entity exists only while the queue has limits. Tokens are not
/// stored, so after a restart all buckets are empty.
struct LimitedQueueState : Entity {
    static constexpr Record record{
        .whole = 34, .gone = 35, .fields = 7, .fields_min = 7, .format = 9};

    LimitedQueueState() noexcept : Entity{record.kind()} {}

    [[nodiscard]] const std::string& name() const noexcept { return label; }
    template <class Out>
    void write(Out& out) const {
        for (const auto* one : {&limits.queue, &limits.each_group}) {
            const auto limit = one->value_or(RateLimit{.jobs = 0});
            out.natural(limit.jobs);
            out.natural(static_cast<std::uint64_t>(limit.per.count()));
            out.natural(limit.burst);
        }
    }
    template <class In>
    void read(In& in) {
        label = in.text();
        for (auto* one : {&limits.queue, &limits.each_group}) {
            const auto jobs = static_cast<std::uint32_t>(in.natural());
            const Duration per{static_cast<std::int64_t>(in.natural())};
            const auto burst = static_cast<std::uint32_t>(in.natural());
            // The entity may already contain an older record of the same queue, so an absent limit
            // must be reset.
            one->reset();
            if (jobs > 0) *one = RateLimit{.jobs = jobs, .per = per, .burst = burst};
        }
        if (!limits.check()) limits = {};
    }

    std::string label;
    RateLimits limits{};
};

}  // namespace routemaster::detail
