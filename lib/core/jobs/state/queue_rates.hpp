/// @file
/// `QueueRates`: the token buckets of a queue with rate limits, and its throttled jobs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/token_bucket.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// Rate limiter of a queue. Exists only for queues with rate limits.
///
/// A READY job becomes *throttled* when it is next in order but its group has no token. The job is
/// then moved from the READY list into this object. Acquisitions therefore do not examine throttled
/// jobs again, and jobs of further groups are not delayed. The group is *closed* until its next
/// token, and then *opens*. Its first throttled job then precedes all jobs with later due times.
/// The next throttled jobs follow while the group has tokens.
///
/// Not thread safe.
class QueueRates {
public:
    [[nodiscard]] const RateLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] bool limited() const noexcept { return limits_ != RateLimits{}; }

    /// Sets the limits. All token buckets are full then. The caller must make the jobs READY again
    /// that the former limits throttled, with `take_back`.
    void change(const RateLimits& limits);

    /// Must be called when the limits were restored from a journal. The journal does not record
    /// used tokens, so the next acquisition starts with empty buckets.
    void forget_tokens() noexcept { restored_ = true; }

    /// Whether the object can be destroyed: there are no limits, and former limits throttle no job.
    [[nodiscard]] bool over() const noexcept {
        return !limited() && throttled() == 0 && !going_back_;
    }

    // --- Tokens ---------------------------------------------------------------------------------

    /// Must be called at the beginning of each acquisition.
    void begin(TimePoint now);

    /// How many jobs of the queue may begin now by the queue's limit alone.
    [[nodiscard]] std::uint32_t tokens(TimePoint now) const;

    /// When the queue (`next`) or a group (`next_of`) next has a token. `now` if there is a token
    /// now, or no limit.
    [[nodiscard]] TimePoint next(TimePoint now) const;
    [[nodiscard]] TimePoint next_of(const std::string& group, TimePoint now) const;

    /// Consumes a token of the queue and a token of the job's group, because the job begins.
    void take(const JobState& job, TimePoint now);

    // --- Throttled jobs -------------------------------------------------------------------------

    /// The job to begin when `job` is next in order. `job` must be READY and not throttled. If its
    /// group has throttled jobs, returns the first of them and throttles `job`. Otherwise returns
    /// `job`. If the group has no token, throttles `job` and returns null.
    [[nodiscard]] JobState* in_turn(JobState& job, TimePoint now);

    /// The throttled job to begin before `other`: the first job of the group that opened first.
    /// `other` must be READY and not throttled, or null. Null when no group is open, or when
    /// `other` precedes the throttled job by due time and priority.
    [[nodiscard]] JobState* opened_before(const JobState* other, TimePoint now);

    void remove(GroupedJob& job);

    /// Removes and returns jobs that former limits throttled, in their order, at most `most`.
    [[nodiscard]] std::vector<JobState*> take_back(std::size_t most);

    [[nodiscard]] std::size_t throttled() const noexcept { return throttled_since_.size(); }

    /// Since when the oldest throttled job has been due. `never` when no job is throttled.
    [[nodiscard]] TimePoint throttled_since() const noexcept {
        return throttled_since_.empty() ? never : *throttled_since_.begin();
    }

    [[nodiscard]] bool going_back() const noexcept { return going_back_.has_value(); }
    /// When the next closed group opens, or has opened. `never` when no group is closed.
    [[nodiscard]] TimePoint opens_at() const noexcept {
        return openings_.empty() ? never : openings_.begin()->first;
    }

private:
    /// A group with throttled jobs, sorted by position. The entry is removed with its last
    /// throttled job.
    struct ClosedGroup {
        /// When the group has its next token. Changes with each job that begins.
        TimePoint opens_at{};
        std::map<std::uint64_t, GroupedJob*> jobs{};
    };
    using ClosedGroups = std::map<std::string, ClosedGroup>;

    [[nodiscard]] TokenBucket bucket_of(const std::string& group, TimePoint now) const;
    void keep(const std::string& group, const TokenBucket& bucket, TimePoint now);
    void forget_full(TimePoint now);

    void throttle(GroupedJob& job);
    void open_at(ClosedGroups::iterator group, TimePoint at);
    void reopen(ClosedGroups::iterator group, TimePoint now);
    void reopen_late(TimePoint now);

    /// How many opening times an acquisition corrects after the clock was set back. The next
    /// acquisition continues.
    static constexpr int reopened_max = 1'000;

    RateLimits limits_{};
    bool restored_ = false;
    TokenBucket bucket_{};
    TokenBucket unused_{};  ///< The bucket of every group not in `buckets_`.
    /// Token buckets of groups. A full bucket is removed some time later.
    std::map<std::string, TokenBucket> buckets_{};
    std::string looked_at_{};  ///< The group whose bucket `forget_full` examined last.
    ClosedGroups closed_{};
    std::set<std::pair<TimePoint, std::string>> openings_{};  ///< When each closed group opens.
    std::multiset<TimePoint> throttled_since_{};  ///< When each throttled job joined its group.
    /// Set by a change of limits until all throttled jobs were taken back. The throttled jobs
    /// behind this group and position must still be taken back.
    std::optional<std::pair<std::string, std::uint64_t>> going_back_{};
};

}  // namespace routemaster::detail
