#include "core/state/queue_rates.hpp"

#include <algorithm>
#include <limits>

#include "core/state/job_places.hpp"

namespace routemaster::detail {

void QueueRates::change(const RateLimits& limits) {
    limits_ = limits;
    restored_ = false;
    bucket_ = {};
    unused_ = {};
    buckets_.clear();
    if (throttled_ > 0) going_back_.emplace();
}

// --- Tokens -------------------------------------------------------------------------------------

void QueueRates::begin(TimePoint now) {
    if (std::exchange(restored_, false)) {
        if (limits_.queue) bucket_ = TokenBucket::emptied(*limits_.queue, now);
        if (limits_.each_group) unused_ = TokenBucket::emptied(*limits_.each_group, now);
    }
    if (limits_.queue) bucket_.take(*limits_.queue, 0, now);
    if (limits_.each_group) unused_.take(*limits_.each_group, 0, now);
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

/// Two for each one that is kept: so at most some of them are full.
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
    auto* first = closed == closed_.end() || closed->second.jobs.empty()
                      ? nullptr
                      : closed->second.jobs.begin()->second;
    if (has_token && (first == nullptr || own.position < first->position)) return &job;
    JobPlaces::withdraw(job);
    throttle(own);
    if (has_token) return first;
    bucket.take(limit, 0, now);
    keep(name, bucket, now);
    open_at(closed_.find(name), bucket.next(limit, now));
    return nullptr;
}

void QueueRates::throttle(GroupedJob& job) {
    closed_[job.group.name].jobs.emplace(job.position, &job);
    job.throttled = true;
    ++throttled_;
}

void QueueRates::remove(GroupedJob& job) {
    closed_.at(job.group.name).jobs.erase(job.position);
    job.throttled = false;
    --throttled_;
}

void QueueRates::open_at(ClosedGroups::iterator group, TimePoint at) {
    openings_.erase({group->second.opens_at, group->first});
    group->second.opens_at = at;
    openings_.emplace(at, group->first);
}

void QueueRates::take_first(ClosedGroup& group, std::size_t most, std::vector<JobState*>& into) {
    for (; most > 0 && !group.jobs.empty(); --most) {
        auto& job = *group.jobs.begin()->second;
        remove(job);
        into.push_back(&job);
    }
}

void QueueRates::take_back(std::size_t most, std::vector<JobState*>& into) {
    auto& [name, position] = *going_back_;
    for (auto group = closed_.lower_bound(name); group != closed_.end(); ++group) {
        auto& jobs = group->second.jobs;
        auto next = group->first == name ? jobs.upper_bound(position) : jobs.begin();
        for (; next != jobs.end(); --most) {
            if (most == 0) return;
            auto& job = *next->second;
            ++next;
            name = group->first;
            position = job.position;
            remove(job);
            into.push_back(&job);
        }
    }
    if (most > 0) going_back_.reset();
}

std::vector<JobState*> QueueRates::take_opened(std::size_t most, TimePoint now) {
    std::vector<JobState*> opened;
    if (going_back_) take_back(most, opened);
    std::vector<std::string> due;
    for (const auto& [at, name] : openings_) {
        if (at > now || due.size() == most - opened.size()) break;
        due.push_back(name);
    }
    for (const auto& name : due) {
        const auto left = most - opened.size();
        if (left == 0) break;
        const auto group = closed_.find(name);
        auto next = now;
        auto count = left;
        if (limits_.each_group) {
            auto bucket = bucket_of(name, now);
            bucket.take(*limits_.each_group, 0, now);
            if (buckets_.contains(name)) buckets_.at(name) = bucket;
            count = std::min<std::size_t>(left, bucket.tokens(*limits_.each_group, now));
            next = bucket.next(*limits_.each_group, now, static_cast<std::uint32_t>(count));
        }
        take_first(group->second, count, opened);
        if (!group->second.jobs.empty()) {
            open_at(group, next);
        } else {
            openings_.erase({group->second.opens_at, name});
            closed_.erase(group);
        }
    }
    return opened;
}

}  // namespace routemaster::detail
