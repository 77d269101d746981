#include "rate_accounts.hpp"

#include <algorithm>
#include <chrono>
#include <type_traits>
#include <utility>
#include <variant>

#include "testing/conformance/text.hpp"

namespace routemaster::simulation {
namespace {

/// How long a job that may begin waits at most while a worker is running. The worker polls twice a
/// second, and after an error up to a second later.
constexpr Duration begin_lateness_max{3'000};

/// If the time in a step differs from the current time by more than this, the store takes the
/// difference for a change of the clock, and refills the bucket for the difference. After a step
/// with a later time, the bucket itself was refilled. After a step with an earlier time, the next
/// step refills it once more.
constexpr Duration apart_max{1'000};

/// How long it takes until an empty bucket has a token.
Duration first_token(const std::optional<RateLimit>& limit) {
    if (!limit) return Duration{0};
    const auto jobs = std::int64_t{limit->jobs};
    return Duration{(limit->per.count() + jobs - 1) / jobs};
}

/// Whether a step may change jobs of a queue.
bool is_about_job_of(const std::string& queue, const Step& step) {
    return std::visit(
        [&queue](const auto& any) {
            using S = std::decay_t<decltype(any)>;
            if constexpr (std::is_same_v<S, PushJob> || std::is_same_v<S, LimitQueue>) {
                return any.queue == queue;
            } else if constexpr (std::is_same_v<S, AckJob> || std::is_same_v<S, NackJob> ||
                                 std::is_same_v<S, ReleaseJob> || std::is_same_v<S, FailJob> ||
                                 std::is_same_v<S, CompleteJob>) {
                return any.lease.queue == queue;
            } else {
                return std::is_same_v<S, RetireWorker>;
            }
        },
        step);
}

}  // namespace

void RateAccounts::asked(const Step& step, const Submitted& when, bool refusing) {
    if (is_about_job_of(queue_, step)) stirred();
    const auto* push = std::get_if<PushJob>(&step);
    if (push != nullptr && push->queue == queue_) groups_[push->job] = push->options.group;
    const auto* acquire = std::get_if<AcquireJobs>(&step);
    const bool acquires = acquire != nullptr && acquire->queue == queue_;
    const auto* limit = std::get_if<LimitQueue>(&step);
    const bool limits = limit != nullptr && limit->queue == queue_;
    // A failing store rejects `LimitQueue`, too. But performing a `LimitQueue` may reveal that the
    // disk works again.
    if (refusing && !limits) return;
    limited_ = limited_ || limits;
    if (!limited_ || (!acquires && !limits)) return;
    auto& change = changes_[when.number];
    change.at = context_.elapsed();
    const auto late = context_.now() - when.now;
    change.said_at = change.at - std::max(late, Duration{0});
    if (const auto apart = std::chrono::abs(late); apart > apart_max) change.set = apart;
    change.forgets = std::exchange(forgets_, false);
    if (limits) change.limits = limit->limits;
    if (acquires) change.acquires = std::exchange(empties_, false);
}

void RateAccounts::acquired(const Lease& lease, std::uint64_t number) {
    stirred();
    if (!limited_ || !fences_.insert(lease.fence).second) return;
    const auto group = groups_.find(lease.job);
    ++changes_[number].begun[group == groups_.end() ? std::string{} : group->second];
}

void RateAccounts::replied(const Step& step, const Outcome& outcome, const Submitted& when) {
    const auto found = changes_.find(when.number);
    if (found == changes_.end()) return;
    if (const auto* limit = std::get_if<LimitQueue>(&step); limit != nullptr && !outcome) {
        found->second.limits.reset();
    } else if (std::holds_alternative<AcquireJobs>(step)) {
        const auto& change = found->second;
        if (!change.begun.empty()) {
            static_cast<void>(count());
        } else if (!change.forgets && !change.acquires && change.set == Duration{0}) {
            changes_.erase(found);
        }
    }
}

RateAccounts::Bucket RateAccounts::filled(const std::optional<RateLimit>& limit, Duration at) {
    return {limit ? std::int64_t{limit->tokens_max()} * limit->per.count() : 0, at};
}

RateAccounts::Tokens RateAccounts::count() const {
    auto tokens = tokens_;
    for (const auto& [number, change] : changes_) apply(tokens, change);
    return tokens;
}

void RateAccounts::apply(Tokens& tokens, const Change& change) const {
    tokens.forgotten = tokens.forgotten || change.forgets;
    if (change.limits && *change.limits != tokens.limits) {
        // A new bucket is full even for steps that were sent earlier and arrive late.
        const auto since = change.at - apart_max;
        tokens = {.limits = *change.limits,
                  .queue = filled(change.limits->queue, since),
                  .unused = filled(change.limits->each_group, since)};
    }
    if (change.acquires && tokens.forgotten) {
        const Bucket empty{0, change.said_at};
        tokens = {.limits = tokens.limits, .queue = empty, .unused = empty};
    }
    if (change.set > Duration{0}) {
        fill(tokens.queue, tokens.limits.queue, change.set);
        fill(tokens.unused, tokens.limits.each_group, change.set);
        for (auto& [group, bucket] : tokens.groups) {
            fill(bucket, tokens.limits.each_group, change.set);
        }
    }
    for (const auto& [group, jobs] : change.begun) {
        if (const auto& limit = tokens.limits.queue) {
            take(tokens.queue, *limit, jobs, change.said_at, "queue " + queue_);
        }
        if (const auto& limit = tokens.limits.each_group; limit && !group.empty()) {
            auto& bucket = tokens.groups.try_emplace(group, tokens.unused).first->second;
            take(bucket, *limit, jobs, change.said_at, group);
        }
    }
}

void RateAccounts::fill(Bucket& bucket, const std::optional<RateLimit>& limit, Duration span) {
    if (limit) bucket.parts += span.count() * std::int64_t{limit->jobs};
}

void RateAccounts::take(Bucket& bucket, const RateLimit& limit, std::int64_t jobs, Duration at,
                        const std::string& whose) const {
    // A token that is completed within a millisecond counts from its exact time.
    const auto most = filled(limit, at).parts + std::int64_t{limit.jobs};
    const auto passed = std::max(at - bucket.at, Duration{0}).count();
    bucket = {std::min(most, bucket.parts + passed * std::int64_t{limit.jobs}),
              std::max(at, bucket.at)};
    bucket.parts -= jobs * limit.per.count();
    if (bucket.parts < 0) context_.fail("more jobs began than the limit allows: " + whose);
}

void RateAccounts::doubt(const Step& step, std::uint64_t number) {
    const auto* limit = std::get_if<LimitQueue>(&step);
    if (limit == nullptr || limit->queue != queue_) return;
    doubts_.push_back(limit->limits);
    changes_[number].limits.reset();
}

void RateAccounts::read_again() {
    forgets_ = true;
    empties_ = true;
}

void RateAccounts::compare(const RateLimits& limits) {
    tokens_ = count();
    changes_.clear();
    const auto doubts = std::exchange(doubts_, {});
    if (limits == tokens_.limits) return;
    if (std::find(doubts.begin(), doubts.end(), limits) == doubts.end()) {
        context_.fail("queue " + queue_ + " does not have the rate limits that a client set: " +
                      testing::Text::of(limits) + ", expected " +
                      testing::Text::of(tokens_.limits));
    }
    const auto at = context_.elapsed();
    tokens_ = {.limits = limits,
               .queue = filled(limits.queue, at),
               .unused = filled(limits.each_group, at),
               .forgotten = tokens_.forgotten};
}

void RateAccounts::must_move(std::optional<TimePoint> since) const {
    if (!since) return;
    const auto limits = count().limits;
    const auto most =
        begin_lateness_max + first_token(limits.queue) + first_token(limits.each_group);
    const auto calm_since = std::max({context_.disturbed_until, worked_since_, stirred_at_});
    const auto waits = std::min(context_.now() - *since, context_.moment() - calm_since);
    if (waits <= most) return;
    context_.fail("a READY job of queue " + queue_ + " has waited, while workers were idle, for " +
                  std::to_string(waits.count()) + " ms");
}

}  // namespace routemaster::simulation
