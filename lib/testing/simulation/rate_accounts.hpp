/// @file
/// `RateAccounts`: checks the rate limits of a world.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/job.hpp"
#include "routemaster/rate_limit.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// Checker of rate limits. Counts the tokens of a queue and of its groups. Fails the simulation
/// when more jobs begin than tokens can exist, or when a job waits although a token must exist. Its
/// buckets are refilled for all the time by which any clock has advanced, and therefore never have
/// fewer tokens than the store. Each check recounts all changes, because replies may arrive out of
/// order. Not thread safe.
class RateAccounts {
public:
    /// `context` must outlive this object. `queue` is the queue to check.
    RateAccounts(SimulationContext& context, std::string queue)
        : context_{context}, queue_{std::move(queue)} {}

    /// Called before a step is performed. `refusing` means that the disk fails and the store
    /// rejects changes.
    void asked(const Step& step, const Submitted& when, bool refusing);
    /// Called with the reply to a step, after `acquired` for each job in it.
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    /// Called when the submission `number` leased a job of the queue, or reported its lease again.
    void acquired(const Lease& lease, std::uint64_t number);
    /// Called when leases may have ended without a step for each of them.
    void stirred() { stirred_at_ = context_.moment(); }

    void doubt(const Step& step, std::uint64_t number);
    /// Called at power loss: all leases have ended.
    void crashed() { fences_.clear(); }
    /// Called when the store has read its journal, which does not contain tokens.
    void read_again();

    void worked_since(TimePoint moment) noexcept { worked_since_ = moment; }

    /// Fails the simulation unless the limits of the queue are as expected. No step may be in
    /// progress.
    void compare(const RateLimits& limits);
    /// Fails the simulation when a job waits without a reason. `since` is the due time of the
    /// oldest READY job.
    void must_move(std::optional<TimePoint> since) const;

private:
    /// A token bucket. A token consists of as many parts as `RateLimit::per` has milliseconds,
    /// which makes refills exact.
    struct Bucket {
        std::int64_t parts = 0;
        Duration at{0};
    };

    struct Tokens {
        RateLimits limits{};
        Bucket queue{};
        Bucket unused{};  // The bucket of each group that is not in `groups`.
        std::map<std::string, Bucket> groups{};
        // The store lost its tokens, so the next acquisition begins without tokens.
        bool forgotten = false;
    };

    struct Change {
        Duration at{0};
        Duration said_at{0};  // The time in the step, which may be old.
        bool forgets = false;
        std::optional<RateLimits> limits{};
        bool acquires = false;
        // The time that the bucket takes for a change of the clock: backwards if the time in the
        // step is too early, and forwards if an old step is repeated after the clock was set back.
        Duration set{0};
        std::map<std::string, std::int64_t> begun{};  // Jobs that began, by group.
    };

    void apply(Tokens& tokens, const Change& change) const;
    static void fill(Bucket& bucket, const std::optional<RateLimit>& limit, Duration span);
    void take(Bucket& bucket, const RateLimit& limit, std::int64_t jobs, Duration at,
              const std::string& whose) const;
    [[nodiscard]] static Bucket filled(const std::optional<RateLimit>& limit, Duration at);
    [[nodiscard]] Tokens count() const;

    SimulationContext& context_;
    std::string queue_;
    bool limited_ = false;                     // The queue has, or may have had, a limit.
    Tokens tokens_{};                          // The tokens before the first of `changes_`.
    std::map<std::uint64_t, Change> changes_;  // By the number of the submission.
    bool forgets_ = false;  // The journal was read, and no step was performed since.
    bool empties_ = false;  // The journal was read, and no acquisition was performed since.
    std::vector<RateLimits> doubts_;             // Limits that may have been set.
    std::set<std::uint64_t> fences_;             // Fences of leases that were already counted.
    std::map<std::string, std::string> groups_;  // The group of each job, by the job's bytes.
    TimePoint stirred_at_{};                     // When a job of the queue may last have changed.
    TimePoint worked_since_{};
};

}  // namespace routemaster::simulation
