/// @file
/// The tokens of a queue with rate limits, and its throttled jobs.

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

/// Exists for a queue with rate limits only.
///
/// A READY job is *throttled* when its turn comes while its group has no token. A throttled job
/// stands here and in no list: acquisitions do not meet it again, and jobs of further groups are
/// not delayed. The group is *closed* until its next token comes and opens it. Then the first
/// throttled job has its turn before all jobs with later due times. The next throttled jobs follow
/// while there are tokens.
///
/// Not thread safe.
class QueueRates {
public:
    [[nodiscard]] const RateLimits& limits() const noexcept { return limits_; }
    [[nodiscard]] bool limited() const noexcept { return limits_ != RateLimits{}; }

    /// Sets the limits. All buckets are full then. Throttled jobs leave in chunks, by `take_back`.
    void change(const RateLimits& limits);

    /// To be called when the limits come from a journal. The journal does not contain the taken
    /// tokens, so the next acquisition finds all buckets empty.
    void forget_tokens() noexcept { restored_ = true; }

    /// Whether the object can go: there are no limits, and former limits throttle no job.
    [[nodiscard]] bool over() const noexcept {
        return !limited() && throttled() == 0 && !going_back_;
    }

    // --- Tokens ---------------------------------------------------------------------------------

    /// To be called at the beginning of an acquisition.
    void begin(TimePoint now);

    /// How many jobs of the queue may begin now, regardless of their groups.
    [[nodiscard]] std::uint32_t tokens(TimePoint now) const;

    /// When the queue (`next`) or a group (`next_of`) has a token; `now` if it has one or has no
    /// limit.
    [[nodiscard]] TimePoint next(TimePoint now) const;
    [[nodiscard]] TimePoint next_of(const std::string& group, TimePoint now) const;

    /// Takes a token of the queue and a token of the job's group, when the job begins.
    void take(const JobState& job, TimePoint now);

    // --- Throttled jobs -------------------------------------------------------------------------

    /// Which job begins when the turn of `job` comes; `job` is READY and not throttled. Either the
    /// first throttled job of its group (`job` is throttled instead) or `job` itself. Null when the
    /// group has no token; `job` is throttled then.
    [[nodiscard]] JobState* in_turn(JobState& job, TimePoint now);

    /// The throttled job whose turn comes before the turn of `other`: the first job of the group
    /// that opened first. `other` is READY and not throttled, or null. Null when no group is open,
    /// or when `other` precedes this job by due time and priority.
    [[nodiscard]] JobState* opened_before(const JobState* other, TimePoint now);

    void remove(GroupedJob& job);

    /// Takes at most `most` jobs, in their order, that former limits throttled.
    [[nodiscard]] std::vector<JobState*> take_back(std::size_t most);

    [[nodiscard]] std::size_t throttled() const noexcept { return throttled_since_.size(); }

    /// Since when the oldest throttled job has been due; `never` when no job is throttled.
    [[nodiscard]] TimePoint throttled_since() const noexcept {
        return throttled_since_.empty() ? never : *throttled_since_.begin();
    }

    /// Whether `take_back` has more jobs.
    [[nodiscard]] bool going_back() const noexcept { return going_back_.has_value(); }
    /// When the next closed group opens or has opened; `never` when no group is closed.
    [[nodiscard]] TimePoint opens_at() const noexcept {
        return openings_.empty() ? never : openings_.begin()->first;
    }

private:
    /// A group with throttled jobs, by position. It ends with its last throttled job.
    struct ClosedGroup {
        TimePoint opens_at{};  ///< When it has a token; changes with each job that begins.
        std::map<std::uint64_t, GroupedJob*> jobs{};
    };
    using ClosedGroups = std::map<std::string, ClosedGroup>;

    [[nodiscard]] TokenBucket bucket_of(const std::string& group, TimePoint now) const;
    void keep(const std::string& group, const TokenBucket& bucket, TimePoint now);
    void forget_full(TimePoint now);

    void throttle(GroupedJob& job);
    void open_at(ClosedGroups::iterator group, TimePoint at);
    /// Computes anew when a closed group opens.
    void reopen(ClosedGroups::iterator group, TimePoint now);
    void reopen_late(TimePoint now);

    /// How many groups an acquisition lets open sooner after the clock was set back. The next
    /// acquisition continues.
    static constexpr int reopened_max = 1'000;

    RateLimits limits_{};
    bool restored_ = false;
    TokenBucket bucket_{};
    TokenBucket unused_{};  ///< The bucket of every group not in `buckets_`.
    /// Buckets of groups. A full bucket is removed some time later.
    std::map<std::string, TokenBucket> buckets_{};
    std::string looked_at_{};  ///< The bucket that `forget_full` last examined.
    ClosedGroups closed_{};
    std::set<std::pair<TimePoint, std::string>> openings_{};  ///< When each closed group opens.
    std::multiset<TimePoint> throttled_since_{};  ///< When each throttled job joined its group.
    /// Set by a change of limits, until all throttled jobs have left. Throttled jobs behind this
    /// group and position must still leave.
    std::optional<std::pair<std::string, std::uint64_t>> going_back_{};
};

}  // namespace routemaster::detail
