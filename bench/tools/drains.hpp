/// @file
/// `Drain`: acquires and acknowledges jobs of a queue, several at once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "jobs.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/uid.hpp"
#include "run.hpp"

namespace bench {

/// Acquires and acknowledges `count` jobs, with `in_flight` leases at once. Each ack is a separate
/// submission. The jobs must have the numbers from `first` on, in any order, each once.
class Drain {
public:
    /// The store must outlive this object.
    Drain(routemaster::Store& store, const routemaster::Uid& worker, std::uint64_t first,
          std::uint64_t count)
        : store_{store},
          worker_{worker},
          first_{first},
          unasked_{count},
          open_{count},
          came_(count) {}

    void run(std::uint32_t in_flight) {
        if (open_ == 0) return;
        {
            const std::lock_guard lock{mutex_};
            acquire(in_flight);
        }
        finish_.wait();
        // The completion that called `finish_` still has the lock.
        const std::lock_guard lock{mutex_};
    }

private:
    using Outcomes = std::span<routemaster::Outcome>;

    /// Acquires jobs when half of the last ones are done, so that each acquisition gets many jobs.
    void acquire(std::uint32_t limit) {
        in_flight_ = std::max(in_flight_, limit);
        limit = static_cast<std::uint32_t>(std::min<std::uint64_t>(limit, unasked_));
        if (limit == 0) return;
        held_ += limit;
        unasked_ -= limit;
        routemaster::Step step{routemaster::AcquireJobs{job_queue, worker_, limit}};
        store_.submit({&step, 1}, routemaster::system_clock().now(),
                      [this, limit](auto outcomes) { acquired(outcomes, limit); });
    }

    void acquired(Outcomes outcomes, std::uint32_t limit) {
        auto reply = routemaster::reply_of<routemaster::AcquireJobs>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        if (reply->leases.empty()) return finish_.failed("a job is missing");
        // The store may not have promoted all requested jobs yet.
        const auto missing = limit - static_cast<std::uint32_t>(reply->leases.size());
        held_ -= missing;
        unasked_ += missing;
        for (auto& lease : reply->leases) {
            const auto n = number_of(lease.job) - first_;
            if (n >= came_.size() || came_[n]) return finish_.failed("not the next job");
            came_[n] = true;
            routemaster::Step step{routemaster::AckJob{std::move(lease)}};
            store_.submit({&step, 1}, routemaster::system_clock().now(),
                          [this](auto answers) { acked(answers); });
        }
    }

    void acked(Outcomes outcomes) {
        const std::lock_guard lock{mutex_};
        const auto reply = routemaster::reply_of<routemaster::AckJob>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        if (*reply != routemaster::Settlement::settled) return finish_.failed("a lease was lost");
        if (--open_ == 0) return finish_.reached();
        if (--held_ <= in_flight_ / 2) acquire(in_flight_ - held_);
    }

    routemaster::Store& store_;
    const routemaster::Uid worker_;
    const std::uint64_t first_;
    /// Guards all members: the first completions are called while the start still submits.
    /// Recursive, because `submit` may call a completion directly.
    std::recursive_mutex mutex_;
    std::uint64_t unasked_;  ///< Jobs still to be acquired.
    std::uint64_t open_;     ///< Jobs that are not done.
    std::vector<bool> came_;
    std::uint32_t in_flight_ = 0;
    std::uint32_t held_ = 0;
    Finish finish_;
};

}  // namespace bench
