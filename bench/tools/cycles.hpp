/// @file
/// `Cycles`: pushes, acquires and acknowledges jobs on any store, several at once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jobs.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/entropy.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/uid.hpp"
#include "run.hpp"

namespace bench {

/// Takes the jobs with the numbers 0 to `count` from push to ack.
///
/// At any time `in_flight` jobs are between their push and the reply to their ack. Each push is a
/// separate submission after the end of an earlier job, and each ack is a separate submission right
/// after the acquisition. A single worker acquires all available jobs as soon as the reply to a
/// push shows that there is a new job. All work except the start happens in completions: on the
/// thread of the store or, when the store completes inside `submit`, in the calling thread. Fails
/// when a reply is wrong, or a job is acquired twice.
class Cycles {
public:
    /// The store must outlive this object. `groups` is the number of ordering groups, to which jobs
    /// are assigned in turns; 0 for jobs without a group.
    Cycles(routemaster::Store& store, const routemaster::Uid& worker, std::uint32_t in_flight,
           std::uint64_t count, std::uint64_t groups = 0)
        : store_{store},
          worker_{worker},
          in_flight_{in_flight},
          groups_{groups},
          open_{count},
          over_(count) {}

    void run() {
        if (open_ == 0) return;
        // One submission pushes the first jobs: its completion is called once, on the store's
        // thread.
        const auto now = routemaster::system_clock().now();
        std::vector<routemaster::Step> pushes;
        while (pushes.size() < in_flight_ && next_ < over_.size()) pushes.emplace_back(push(now));
        store_.submit(pushes, now, [this](auto outcomes) { pushed(outcomes); });
        finish_.wait();
    }

    [[nodiscard]] std::uint64_t acquisitions() const noexcept { return acquisitions_; }

private:
    using Outcomes = std::span<routemaster::Outcome>;

    [[nodiscard]] routemaster::PushJob push(routemaster::TimePoint now) {
        const auto n = next_++;
        routemaster::PushJob step{job_queue, numbered_job(n), now};
        if (groups_ > 0) step.options.group = "group " + std::to_string(n % groups_);
        return step;
    }

    void pushed(Outcomes outcomes) {
        for (auto& outcome : outcomes) {
            const auto reply = routemaster::reply_of<routemaster::PushJob>(outcome);
            if (!reply) return finish_.failed(reply.error().message());
            if (*reply != routemaster::PushOutcome::pushed) {
                return finish_.failed("a job was there already");
            }
        }
        pushed_ += outcomes.size();
        go_on();
    }

    void acquired(Outcomes outcomes) {
        auto reply = routemaster::reply_of<routemaster::AcquireJobs>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        acquiring_ = false;
        for (const auto& lease : reply->leases) {
            known_ = std::max(known_, lease.fence);
            const auto n = number_of(lease.job);
            if (n >= over_.size() || over_[n]) return finish_.failed("a job came twice");
            over_[n] = true;
        }
        acquired_ += reply->leases.size();
        std::move(reply->leases.begin(), reply->leases.end(), std::back_inserter(leases_));
        go_on();
    }

    void acked(Outcomes outcomes) {
        const auto reply = routemaster::reply_of<routemaster::AckJob>(outcomes.front());
        if (!reply) return finish_.failed(reply.error().message());
        if (*reply != routemaster::Settlement::settled) return finish_.failed("a lease was lost");
        if (next_ + due_ < over_.size()) ++due_;
        if (--open_ == 0) return finish_.reached();
        go_on();
    }

    /// Submits all due steps. Returns immediately if a caller does so already: completions may be
    /// called inside `submit`.
    void go_on() {
        if (std::exchange(going_on_, true)) return;
        while (submit_one()) {
        }
        going_on_ = false;
    }

    bool submit_one() {
        const auto now = routemaster::system_clock().now();
        if (!leases_.empty()) {
            routemaster::Step step{routemaster::AckJob{std::move(leases_.front())}};
            leases_.pop_front();
            store_.submit({&step, 1}, now, [this](auto outcomes) { acked(outcomes); });
        } else if (due_ > 0) {
            --due_;
            routemaster::Step step{push(now)};
            store_.submit({&step, 1}, now, [this](auto outcomes) { pushed(outcomes); });
        } else if (pushed_ > acquired_ && !acquiring_) {
            acquiring_ = true;
            ++acquisitions_;
            routemaster::Step step{
                routemaster::AcquireJobs{job_queue, worker_, in_flight_, known_}};
            store_.submit({&step, 1}, now, [this](auto outcomes) { acquired(outcomes); });
        } else {
            return false;
        }
        return true;
    }

    routemaster::Store& store_;
    const routemaster::Uid worker_;
    const std::uint32_t in_flight_;
    const std::uint64_t groups_;
    std::uint64_t open_;      ///< Jobs that are not done.
    std::uint64_t next_ = 0;  ///< The number of the next push.
    std::uint64_t due_ = 0;   ///< Pushes to submit.
    std::uint64_t known_ = 0;
    std::uint64_t acquisitions_ = 0;
    std::uint64_t pushed_ = 0;    ///< Jobs whose push succeeded.
    std::uint64_t acquired_ = 0;  ///< Can exceed `pushed_`: the reply to a push may come later.
    std::deque<routemaster::Lease> leases_;  ///< To be acknowledged.
    bool acquiring_ = false;
    bool going_on_ = false;
    std::vector<bool> over_;  ///< By number: whether the job was acquired.
    Finish finish_;
};

/// Takes `warm_up` jobs from push to ack, then `count` jobs. Prints one JSON line about the latter.
/// Checks that the queue is empty before and after.
inline void measure_cycles(routemaster::Store& store, std::uint32_t in_flight,
                           std::uint64_t warm_up, std::uint64_t count, std::uint64_t groups = 0) {
    const routemaster::Uid worker{routemaster::entropy(), routemaster::entropy()};
    Cycles{store, worker, in_flight, warm_up, groups}.run();
    Cycles cycles{store, worker, in_flight, count, groups};
    measure(
        count, [&] { cycles.run(); },
        [&] { return R"(,"acquisitions":)" + std::to_string(cycles.acquisitions()); });
    const auto now = routemaster::system_clock().now();
    const auto left = perform(store, routemaster::CountJobs{job_queue}, now).value();
    if (left != routemaster::QueueStatus{}) throw std::runtime_error{"the queue is not empty"};
    static_cast<void>(perform(store, routemaster::RetireWorker{worker}, now).value());
}

}  // namespace bench
