/// @file
/// `Pushes`: pushes jobs on any store, several at once.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "jobs.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "run.hpp"

namespace bench {

/// Pushes the jobs with the numbers `begin` to `end`.
///
/// Each submission contains `together` pushes. A new submission follows each completion, so that
/// `in_flight` pushes are always under way.
class Pushes {
public:
    /// The store must outlive this object.
    Pushes(routemaster::Store& store, std::uint32_t together, std::uint64_t begin,
           std::uint64_t end, std::string (*job)(std::uint64_t) = &numbered_job)
        : store_{store},
          together_{together},
          job_{job},
          next_{begin},
          end_{end},
          open_{end - begin} {}

    void run(std::uint32_t in_flight) {
        if (open_ == 0) return;
        for (std::uint32_t n = 0; n < in_flight; n += together_) submit();
        finish_.wait();
    }

private:
    void submit() {
        const auto begin = next_.fetch_add(together_);
        if (begin >= end_) return;
        const auto now = routemaster::system_clock().now();
        std::vector<routemaster::Step> steps;
        steps.reserve(together_);
        for (auto n = begin; n < std::min(begin + together_, end_); ++n) {
            steps.emplace_back(routemaster::PushJob{job_queue, job_(n), now});
        }
        store_.submit(steps, now,
                      [this](std::span<routemaster::Outcome> outcomes) { answered(outcomes); });
    }

    void answered(std::span<routemaster::Outcome> outcomes) {
        for (auto& outcome : outcomes) {
            const auto reply = routemaster::reply_of<routemaster::PushJob>(outcome);
            if (!reply) return finish_.failed(reply.error().message());
            if (*reply != routemaster::PushOutcome::pushed)
                return finish_.failed("a job was there already");
        }
        submit();
        if (open_.fetch_sub(outcomes.size()) == outcomes.size()) finish_.reached();
    }

    routemaster::Store& store_;
    const std::uint32_t together_;
    std::string (*const job_)(std::uint64_t);
    std::atomic<std::uint64_t> next_;
    const std::uint64_t end_;
    std::atomic<std::uint64_t> open_;
    Finish finish_;
};

/// Fails unless the queue has `count` jobs, all of them READY.
inline void check_ready(routemaster::Store& store, std::uint64_t count) {
    const auto now = routemaster::system_clock().now();
    const auto status = perform(store, routemaster::CountJobs{job_queue}, now).value();
    if (status != routemaster::QueueStatus{.ready = count}) {
        throw std::runtime_error{"not all jobs are READY"};
    }
}

}  // namespace bench
