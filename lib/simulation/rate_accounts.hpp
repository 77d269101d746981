/// @file
/// The account of the rate limits of a world: how many jobs may have begun.

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
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"

namespace routemaster::simulation {

/// Follows the tokens of one queue, and of its groups, and ends the world when more jobs begin than
/// there can be tokens, or when a job waits for one that must have come. A bucket gets tokens for
/// all the time that any clock has shown to pass, so it never has fewer here than in the store.
/// Answers may come in another order than that in which steps were performed: each time all is
/// counted again. Not thread safe.
class RateAccounts {
public:
    /// `context` must outlive it. `queue` is the one that it follows.
    RateAccounts(SimulationContext& context, std::string queue)
        : context_{context}, queue_{std::move(queue)} {}

    /// A step is about to be performed. `refusing`: the disk fails.
    void asked(const Step& step, const Submitted& when, bool refusing);
    /// It was answered, after `acquired` for each job that began, or refused.
    void replied(const Step& step, const Outcome& outcome, const Submitted& when);
    /// A worker got a job of the queue, with the acquisition of that number, or hears of it again.
    void acquired(const Lease& lease, std::uint64_t number);
    /// Leases have ended otherwise than by a step about each of them.
    void stirred() { stirred_at_ = context_.moment(); }

    /// Power was lost before a step was answered: it may have been done or not.
    void doubt(const Step& step, std::uint64_t number);
    /// Power was lost: all leases have ended.
    void crashed() { fences_.clear(); }
    /// The store read its journal, which does not tell how many tokens are left.
    void read_again();

    /// A worker of the queue has been there, and free, since that moment.
    void worked_since(TimePoint moment) noexcept { worked_since_ = moment; }

    /// Ends the world unless the queue is limited as it must be. Nothing may be under way.
    void compare(const RateLimits& limits);
    /// Ends the world when a job waits for no reason. `since`: when the oldest READY one fell due.
    void must_move(std::optional<TimePoint> since) const;

private:
    /// A bucket, exact to the part of a token: each token has as many as `RateLimit::per`.
    struct Bucket {
        std::int64_t parts = 0;
        Duration at{0};  // Up to when it was filled.
    };

    /// What the store has, or more.
    struct Tokens {
        RateLimits limits{};
        Bucket queue{};
        Bucket unused{};  // Of a group of which nothing was heard yet.
        std::map<std::string, Bucket> groups{};
        bool forgotten = false;  // The next acquisition finds them empty.
    };

    /// What a submission has done to them.
    struct Change {
        Duration at{0};
        Duration said_at{0};   // The same as the step says, which may be late.
        bool forgets = false;  // The journal was read before.
        std::optional<RateLimits> limits{};
        bool acquires = false;
        // What the bucket takes for a clock that was set: back when the step says an earlier time
        // than it is, and forth when it is repeated after the clock was set back.
        Duration set{0};
        std::map<std::string, std::int64_t> begun{};  // Jobs, by their groups.
    };

    void apply(Tokens& tokens, const Change& change) const;
    static void fill(Bucket& bucket, const std::optional<RateLimit>& limit, Duration span);
    void take(Bucket& bucket, const RateLimit& limit, std::int64_t jobs, Duration at,
              const std::string& whose) const;
    [[nodiscard]] static Bucket filled(const std::optional<RateLimit>& limit, Duration at);
    /// Counts all again, and returns what is left.
    [[nodiscard]] Tokens count() const;

    SimulationContext& context_;
    std::string queue_;
    bool limited_ = false;                       // It ever was, or may have been.
    Tokens tokens_{};                            // Before the changes.
    std::map<std::uint64_t, Change> changes_;    // By submission.
    bool forgets_ = false;                       // The journal was read, and nothing asked since.
    bool empties_ = false;                       // The same, and no job.
    std::vector<RateLimits> doubts_;             // That may have been set.
    std::set<std::uint64_t> fences_;             // Of leases that were counted.
    std::map<std::string, std::string> groups_;  // Of jobs, by their bytes.
    TimePoint stirred_at_{};                     // When anything happened to a job of the queue.
    TimePoint worked_since_{};
};

}  // namespace routemaster::simulation
