#include "core/jobs/state/queue_rates.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/ranked_jobs.hpp"

namespace routemaster::detail {

void QueueRates::change(const RateLimits& limits) {
    limits_ = limits;
    restored_ = false;
    bucket_ = {};
    unused_ = {};
    buckets_.clear();
    if (throttled() > 0) going_back_.emplace();
}

// --- Tokens -------------------------------------------------------------------------------------

void QueueRates::begin(TimePoint now) {
    if (std::exchange(restored_, false)) {
        if (limits_.queue) bucket_ = TokenBucket::emptied(*limits_.queue, now);
        if (limits_.each_group) unused_ = TokenBucket::emptied(*limits_.each_group, now);
    }
    if (limits_.queue) bucket_.take(*limits_.queue, 0, now);
    if (!limits_.each_group) return;
    unused_.take(*limits_.each_group, 0, now);
    reopen_late(now);
}

std::uint32_t QueueRates::tokens(TimePoint now) const {
    return limits_.queue ? bucket_.tokens(*limits_.queue, now)
                         : std::numeric_limits<std::uint32_t>::max();
}

TimePoint QueueRates::next(TimePoint now) const {
    if (!limits_.queue) return now;
    const auto& limit = *limits_.queue;
    return restored_ ? TokenBucket::emptied(limit, now).next(limit, now) : bucket_.next(limit, now);
}

TimePoint QueueRates::next_of(const std::string& group, TimePoint now) const {
    return limits_.each_group ? bucket_of(group, now).next(*limits_.each_group, now) : now;
}

TokenBucket QueueRates::bucket_of(const std::string& group, TimePoint now) const {
    if (restored_) return TokenBucket::emptied(*limits_.each_group, now);
    const auto found = buckets_.find(group);
    return found == buckets_.end() ? unused_ : found->second;
}

void QueueRates::keep(const std::string& group, const TokenBucket& bucket, TimePoint now) {
    buckets_.insert_or_assign(group, bucket);
    forget_full(now);
}

/// Whenever a bucket is stored, examines two buckets and removes the full ones. Full buckets thus
/// do not pile up.
void QueueRates::forget_full(TimePoint now) {
    for (int n = 0; n < 2 && !buckets_.empty(); ++n) {
        auto next = buckets_.upper_bound(looked_at_);
        if (next == buckets_.end()) next = buckets_.begin();
        looked_at_ = next->first;
        const auto& limit = *limits_.each_group;
        if (next->second.full(limit, now) && unused_.full(limit, now)) buckets_.erase(next);
    }
}

void QueueRates::take(const JobState& job, TimePoint now) {
    if (limits_.queue) bucket_.take(*limits_.queue, 1, now);
    if (!limits_.each_group || !job.in_order) return;
    const auto& group = job.group()->name;
    auto bucket = bucket_of(group, now);
    bucket.take(*limits_.each_group, 1, now);
    keep(group, bucket, now);
    const auto closed = closed_.find(group);
    if (closed != closed_.end()) open_at(closed, bucket.next(*limits_.each_group, now));
}

// --- Throttled jobs -----------------------------------------------------------------------------

JobState* QueueRates::in_turn(JobState& job, TimePoint now) {
    if (!limits_.each_group || !job.in_order) return &job;
    auto& own = static_cast<GroupedJob&>(job);
    const auto& name = own.group.name;
    const auto& limit = *limits_.each_group;
    auto bucket = bucket_of(name, now);
    const auto closed = closed_.find(name);
    const bool has_token = bucket.tokens(limit, now) > 0;
    auto* first = closed == closed_.end() ? nullptr : closed->second.jobs.begin()->second;
    if (has_token && (first == nullptr || own.position < first->position)) return &job;
    JobPlaces::withdraw(job);
    throttle(own);
    if (has_token) {
        // Corrects the opening time at once. If `first` is removed before it begins, the next job
        // of its group becomes the first.
        open_at(closed, now);
        return first;
    }
    bucket.take(limit, 0, now);
    keep(name, bucket, now);
    open_at(closed_.find(name), bucket.next(limit, now));
    return nullptr;
}

void QueueRates::throttle(GroupedJob& job) {
    closed_[job.group.name].jobs.emplace(std::uint64_t{job.position}, &job);
    job.throttled = true;
    throttled_since_.insert(job.joined_at());
}

void QueueRates::remove(GroupedJob& job) {
    const auto group = closed_.find(job.group.name);
    group->second.jobs.erase(job.position);
    job.throttled = false;
    throttled_since_.erase(throttled_since_.find(job.joined_at()));
    if (!group->second.jobs.empty()) return;
    openings_.erase({group->second.opens_at, group->first});
    closed_.erase(group);
}

void QueueRates::open_at(ClosedGroups::iterator group, TimePoint at) {
    openings_.erase({group->second.opens_at, group->first});
    group->second.opens_at = at;
    openings_.emplace(at, group->first);
}

/// Corrects opening times after the clock was set back. No group opens later than the time at which
/// an empty bucket gets its first token. `late_max` is added as a tolerance for late calls.
void QueueRates::reopen_late(TimePoint now) {
    const auto& limit = *limits_.each_group;
    const auto first = TokenBucket::emptied(limit, now).next(limit, now);
    const auto latest = saturating_add(first, TokenBucket::late_max);
    for (int n = 0; n < reopened_max && !openings_.empty(); ++n) {
        const auto last = std::prev(openings_.end());
        if (last->first <= latest) return;
        reopen(closed_.find(last->second), now);
    }
}

void QueueRates::reopen(ClosedGroups::iterator group, TimePoint now) {
    const auto& limit = *limits_.each_group;
    auto bucket = bucket_of(group->first, now);
    bucket.take(limit, 0, now);
    if (buckets_.contains(group->first)) buckets_.at(group->first) = bucket;
    open_at(group, bucket.next(limit, now));
}

JobState* QueueRates::opened_before(const JobState* other, TimePoint now) {
    if (!limits_.each_group) return nullptr;
    while (opens_at() <= now) {
        const auto& [at, name] = *openings_.begin();
        const auto group = closed_.find(name);
        if (bucket_of(name, now).tokens(*limits_.each_group, now) == 0) {
            // The group has no token yet and opens later.
            reopen(group, now);
            continue;
        }
        auto& job = *group->second.jobs.begin()->second;
        // If the clock was set back after the job joined, `joined_at()` may be far in the future.
        // The job therefore counts as due when its group opened, at the latest.
        const auto due = std::min(job.joined_at(), at);
        const auto rank = saturating_add(due, -job.priority() * priority_step);
        return other == nullptr || rank < RankedJobs::rank_of(*other) ? &job : nullptr;
    }
    return nullptr;
}

std::vector<JobState*> QueueRates::take_back(std::size_t most) {
    std::vector<JobState*> taken;
    if (!going_back_) return taken;
    auto& [name, position] = *going_back_;
    for (auto group = closed_.lower_bound(name); group != closed_.end();) {
        auto& jobs = group->second.jobs;
        const auto next = group->first == name ? jobs.upper_bound(position) : jobs.begin();
        if (next == jobs.end()) {
            ++group;
            continue;
        }
        if (taken.size() == most) return taken;
        auto& job = *next->second;
        name = group->first;
        position = job.position;
        // Advances first, because `remove` erases the group together with its last job.
        if (jobs.size() == 1) ++group;
        remove(job);
        taken.push_back(&job);
    }
    if (taken.size() < most) going_back_.reset();
    return taken;
}

}  // namespace routemaster::detail
