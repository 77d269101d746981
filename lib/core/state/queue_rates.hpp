/// @file
/// The tokens of a queue with rate limits, and the jobs of its groups that wait for one.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/state/job_state.hpp"
#include "core/state/token_bucket.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// A queue without rate limits has none.
///
/// A READY job that comes to its turn while its group has no token is *throttled*: it stands here
/// and in no list, so nobody looks at it again, and delays no job of another group. Its group opens
/// when its next token comes. Then the first of its throttled jobs has its turn again, before all
/// that fell due later; and the next one, as long as there is a token.
///
/// Not thread safe.
class QueueRates {
public:
    [[nodiscard]] const RateLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] bool limited() const noexcept { return limits_ != RateLimits{}; }

    /// Sets other limits. Buckets begin full, and all that is throttled goes back, bit by bit.
    void change(const RateLimits& limits);

    /// The limits come from a journal, which does not have the tokens that were taken: the next
    /// acquisition finds all buckets empty.
    void forget_tokens() noexcept { restored_ = true; }

    /// Whether it is of no use: there are no limits, and nothing is throttled because of former
    /// ones.
    [[nodiscard]] bool over() const noexcept {
        return !limited() && throttled() == 0 && !going_back_;
    }

    // --- Tokens ---------------------------------------------------------------------------------

    /// An acquisition begins.
    void begin(TimePoint now);

    /// Jobs of the queue that may begin now, whatever their groups.
    [[nodiscard]] std::uint32_t tokens(TimePoint now) const;

    /// When the queue has a token, and a group of it; `now` if it has one, or has no limit.
    [[nodiscard]] TimePoint next(TimePoint now) const;
    [[nodiscard]] TimePoint next_of(const std::string& group, TimePoint now) const;

    /// A job begins: it takes a token of the queue, and one of its group.
    void take(const JobState& job, TimePoint now);

    // --- Throttled jobs -------------------------------------------------------------------------

    /// The job that begins when it is the turn of one that is READY and not throttled: the first of
    /// its group that is throttled, or itself. The other one is throttled then. Null when the group
    /// has no token: then the job itself is.
    [[nodiscard]] JobState* in_turn(JobState& job, TimePoint now);

    /// The throttled job whose turn comes before that of `other`, which is READY and not throttled,
    /// or null: of the group that opened first, if it opened, the first job. Null when `other` fell
    /// due earlier, the priorities of both included.
    [[nodiscard]] JobState* opened_before(const JobState* other, TimePoint now);

    /// A throttled job is taken away.
    void remove(GroupedJob& job);

    /// Takes jobs that go back because the limits changed, at most `most`, in their order.
    [[nodiscard]] std::vector<JobState*> take_back(std::size_t most);

    [[nodiscard]] std::size_t throttled() const noexcept { return throttled_since_.size(); }

    /// Since when the oldest of them has been due; `never` when there is none.
    [[nodiscard]] TimePoint throttled_since() const noexcept {
        return throttled_since_.empty() ? never : *throttled_since_.begin();
    }

    /// Whether more go back at once.
    [[nodiscard]] bool going_back() const noexcept { return going_back_.has_value(); }
    /// When the next group opens, or has opened; `never` when none is closed.
    [[nodiscard]] TimePoint opens_at() const noexcept {
        return openings_.empty() ? never : openings_.begin()->first;
    }

private:
    /// A group with throttled jobs, by their positions. It ends with the last of them.
    struct ClosedGroup {
        TimePoint opens_at{};  ///< When it has a token: each job that begins changes that.
        std::map<std::uint64_t, GroupedJob*> jobs{};
    };
    using ClosedGroups = std::map<std::string, ClosedGroup>;

    [[nodiscard]] TokenBucket bucket_of(const std::string& group, TimePoint now) const;
    void keep(const std::string& group, const TokenBucket& bucket, TimePoint now);
    void forget_full(TimePoint now);

    void throttle(GroupedJob& job);
    void open_at(ClosedGroups::iterator group, TimePoint at);
    /// Looks again when a group has a token.
    void reopen(ClosedGroups::iterator group, TimePoint now);
    void reopen_late(TimePoint now);

    /// Groups that one acquisition lets open sooner after the clock was set back, at most; the rest
    /// waits for the next.
    static constexpr int reopened_max = 1'000;

    RateLimits limits_{};
    bool restored_ = false;
    TokenBucket bucket_{};
    TokenBucket unused_{};  ///< Of a group that no bucket is kept for.
    /// Of groups, as long as they are not full, and a little longer.
    std::map<std::string, TokenBucket> buckets_{};
    std::string looked_at_{};  ///< The last of them that was looked at whether it is full.
    ClosedGroups closed_{};
    std::set<std::pair<TimePoint, std::string>> openings_{};  ///< When each of those opens.
    std::multiset<TimePoint> throttled_since_{};  ///< When each throttled job joined its group.
    /// The limits changed: what is throttled behind this group and position goes back.
    std::optional<std::pair<std::string, std::uint64_t>> going_back_{};
};

}  // namespace routemaster::detail
