/// @file
/// The job queues of the state machine: unique jobs, lanes that keep them in order, leases.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "routemaster/counter.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/detail/intrusive_list.hpp"
#include "routemaster/detail/state/counters.hpp"
#include "routemaster/detail/state/entity.hpp"
#include "routemaster/job.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct Lane;
struct QueueState;

/// A job, in whatever state.
struct JobState : Entity {
    enum class State : std::uint8_t { scheduled, ready, pending };

    JobState(QueueState& in, std::string what, TimePoint at, std::uint64_t number)
        : Entity{Kind::job}, queue{in}, job{std::move(what)}, run_at{at}, order{number} {}

    QueueState& queue;
    std::string job;  ///< Encoded: the identity.
    TimePoint run_at;
    std::uint64_t order;  ///< Grows with each push; kept for life.
    State state = State::scheduled;
    bool admitted = true;  ///< Stands among the first of its lane, so it may be acquired.
    Lane* lane = nullptr;
    ListHook<JobState> in_lane;
    ListHook<JobState> in_ready;
    Uid worker;               ///< While PENDING.
    std::uint64_t fence = 0;  ///< While PENDING.
};

/// Jobs that keep an order among themselves: only the first `width` of them may be acquired, and a
/// job that is given back keeps its place. A width of 1 makes them strictly one after the other.
struct Lane {
    std::string name;
    std::uint32_t width = 1;
    std::size_t admitted = 0;
    JobState* edge = nullptr;  ///< The first job that is not admitted.
    IntrusiveList<JobState, &JobState::in_lane> jobs;
};

/// One queue.
struct QueueState {
    struct Earlier {
        bool operator()(const JobState* a, const JobState* b) const noexcept {
            return std::pair{a->run_at, a->order} < std::pair{b->run_at, b->order};
        }
    };
    struct ByBytes {
        using is_transparent = void;
        static std::string_view bytes(std::string_view job) noexcept { return job; }
        static std::string_view bytes(const std::unique_ptr<JobState>& job) noexcept {
            return job->job;
        }
        std::size_t operator()(const auto& job) const noexcept {
            return std::hash<std::string_view>{}(bytes(job));
        }
        bool operator()(const auto& a, const auto& b) const noexcept {
            return bytes(a) == bytes(b);
        }
    };

    explicit QueueState(std::string what) : name{std::move(what)} {}

    std::string name;
    std::unordered_set<std::unique_ptr<JobState>, ByBytes, ByBytes> jobs;
    std::set<JobState*, Earlier> scheduled;
    IntrusiveList<JobState, &JobState::in_ready> ready;  ///< READY and admitted.
    std::size_t held = 0;                                ///< READY and not admitted.
    std::size_t pending = 0;
    bool hungry = false;  ///< A worker got less than it asked for and has not been woken since.
    bool woken = false;   ///< Stands in the list of queues to wake.
};

/// All queues, and the workers that hold jobs of them.
class JobTable {
public:
    JobTable(Effects& effects, CounterTable& counters) : effects_{effects}, counters_{counters} {}

    /// The next number in the order of pushes.
    std::uint64_t next_order() noexcept { return ++order_; }

    QueueState& queue(const std::string& name) {
        const auto found = queues_.find(name);
        if (found != queues_.end()) return found->second;
        return queues_.try_emplace(name, name).first->second;
    }

    [[nodiscard]] JobState* find(QueueState& queue, std::string_view job) const {
        const auto found = queue.jobs.find(job);
        return found == queue.jobs.end() ? nullptr : found->get();
    }

    /// The job that a lease gives the right to; null when the lease is lost.
    [[nodiscard]] JobState* held(const Lease& lease) const {
        const auto worker = workers_.find(lease.worker);
        if (worker == workers_.end()) return nullptr;
        const auto job = worker->second.jobs.find(lease.fence);
        if (job == worker->second.jobs.end()) return nullptr;
        const auto& state = *job->second;
        return state.job == lease.job && state.queue.name == lease.queue ? job->second : nullptr;
    }

    /// Adds a job that is known not to exist yet.
    JobState& push(QueueState& queue, std::string job, TimePoint run_at, std::uint64_t order,
                   Lane* lane, TimePoint now) {
        auto& state = restore(queue, std::move(job), run_at, order, lane);
        if (lane != nullptr) join(state, *lane);
        place(state, now);
        effects_.changed(state);
        return state;
    }

    /// Moves a job that is not PENDING to another instant.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now) {
        ROUTEMASTER_ASSERT(job.state != JobState::State::pending);
        displace(job);
        job.run_at = run_at;
        place(job, now);
        effects_.changed(job);
    }

    /// Ends a job, whatever its state.
    void remove(JobState& job) {
        effects_.gone(job);
        if (job.state == JobState::State::pending) {
            release(job);
        } else {
            displace(job);
        }
        if (job.lane != nullptr) leave(job);
        auto& jobs = job.queue.jobs;
        jobs.erase(jobs.find(std::string_view{job.job}));
    }

    /// Ends the lease of a job, which is to run again at `run_at`.
    void give_back(JobState& job, TimePoint run_at, TimePoint now) {
        release(job);
        job.run_at = run_at;
        place(job, now);
        if (job.lane != nullptr) fit(*job.lane);
        effects_.changed(job);
    }

    Acquired acquire(QueueState& queue, const AcquireJobs& step, TimePoint now) {
        promote(queue, now);
        auto& holder = workers_[step.worker];
        holder.seen = now;
        Acquired acquired;
        for (auto lost = holder.jobs.upper_bound(step.known); lost != holder.jobs.end(); ++lost) {
            const auto& job = *lost->second;
            if (&job.queue != &queue) continue;
            acquired.leases.push_back({queue.name, job.job, step.worker, job.fence});
        }
        while (acquired.leases.size() < step.limit && !queue.ready.empty()) {
            auto& job = *queue.ready.front();
            queue.ready.remove(job);
            hold(job, step.worker, ++fence_);
            acquired.leases.push_back({queue.name, job.job, step.worker, job.fence});
        }
        if (!queue.ready.empty()) {
            acquired.next_due = now;
        } else {
            queue.hungry = true;
            if (!queue.scheduled.empty()) {
                acquired.next_due = std::max((*queue.scheduled.begin())->run_at, now);
            }
        }
        return acquired;
    }

    void heartbeat(const Uid& worker, TimePoint now) { workers_[worker].seen = now; }

    /// Gives back what a worker holds, oldest first, and forgets it.
    std::uint64_t retire(const Uid& worker, TimePoint now) {
        const auto found = workers_.find(worker);
        if (found == workers_.end()) return 0;
        const auto count = give_back(found->second, given_back_max, now, [](const JobState&) {});
        if (found->second.jobs.empty()) workers_.erase(found);
        return count;
    }

    std::uint64_t scrub(Duration silence, TimePoint now) {
        std::uint64_t count = 0;
        for (auto worker = workers_.begin(); worker != workers_.end();) {
            const auto dead = worker++;
            auto& state = dead->second;
            // When the clock was set back, the silence of the dead counts from now.
            state.seen = std::min(state.seen, now);
            if (saturating_add(state.seen, silence) > now) continue;
            count += give_back(state, given_back_max - count, now, [this](const JobState& job) {
                counters_.add({"jobs.scrubbed", {{"queue", job.queue.name}}}, 1);
            });
            if (!state.jobs.empty()) break;
            counters_.add({"workers.scrubbed", {}}, 1);
            workers_.erase(dead);
        }
        return count;
    }

    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now) {
        std::uint64_t due = 0;
        for (const auto* job : queue.scheduled) {
            if (job->run_at > now) break;
            ++due;
        }
        return {queue.scheduled.size() - due, queue.ready.size() + queue.held + due, queue.pending};
    }

    /// Lets a lane have another number of jobs under way. Those that are stay under way.
    void widen(Lane& lane, std::uint32_t width) {
        lane.width = width;
        fit(lane);
    }

    /// Names of the queues whose watchers are to be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken() {
        for (const auto& name : woken_) queue(name).woken = false;
        return std::exchange(woken_, {});
    }

    // --- Restoring ------------------------------------------------------------------------------

    /// Puts a job into the index alone; `settle_restored` finds its place.
    JobState& restore(QueueState& queue, std::string job, TimePoint run_at, std::uint64_t order,
                      Lane* lane) {
        auto state = std::make_unique<JobState>(queue, std::move(job), run_at, order);
        state->lane = lane;
        order_ = std::max(order_, order);
        return **queue.jobs.insert(std::move(state)).first;
    }

    /// Takes a job out that has only been restored.
    void unrestore(JobState& job) {
        auto& jobs = job.queue.jobs;
        jobs.erase(jobs.find(std::string_view{job.job}));
    }

    /// Gives every restored job its place, in the order of pushes, as SCHEDULED: what is due is
    /// promoted by the next acquisition, in the order it fell due.
    void settle_restored() {
        std::vector<JobState*> all;
        for (auto& [name, queue] : queues_) {
            for (const auto& job : queue.jobs) all.push_back(job.get());
        }
        std::sort(all.begin(), all.end(),
                  [](const JobState* a, const JobState* b) { return a->order < b->order; });
        for (auto* job : all) {
            if (job->lane != nullptr) join(*job, *job->lane);
            job->state = JobState::State::scheduled;
            job->queue.scheduled.insert(job);
        }
    }

    /// All leases that are held, for `reinstate`.
    [[nodiscard]] std::vector<Lease> leases() const {
        std::vector<Lease> all;
        for (const auto& [uid, worker] : workers_) {
            for (const auto& [fence, job] : worker.jobs) {
                all.push_back({job->queue.name, job->job, uid, fence});
            }
        }
        return all;
    }

    /// The last fence that was given out.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// Gives out only fences after `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { fence_ = std::max(fence_, fence); }

    /// Makes a restored job PENDING again under a lease that was held before. Nothing happens when
    /// the job is gone.
    void reinstate(const Lease& lease, TimePoint seen) {
        auto* job = find(queue(lease.queue), lease.job);
        if (job == nullptr || job->state == JobState::State::pending) return;
        displace(*job);
        hold(*job, lease.worker, lease.fence);
        workers_[lease.worker].seen = seen;
    }

private:
    struct Worker {
        TimePoint seen;
        std::map<std::uint64_t, JobState*> jobs;  // By fence.
    };

    /// Gives back the oldest jobs of a worker, at most `limit`; `each` is told of one just before.
    template <class Each>
    std::uint64_t give_back(Worker& worker, std::uint64_t limit, TimePoint now, Each each) {
        std::uint64_t count = 0;
        for (; count < limit && !worker.jobs.empty(); ++count) {
            auto& job = *worker.jobs.begin()->second;
            each(job);
            worker.jobs.erase(worker.jobs.begin());
            detach(job);
            job.run_at = now;
            place(job, now);
            if (job.lane != nullptr) fit(*job.lane);
            effects_.changed(job);
        }
        return count;
    }

    /// Jobs promoted by one step at most; the rest waits for the next.
    static constexpr int promoted_max = 1'000;

    void wake(QueueState& queue) {
        if (!queue.hungry || queue.woken) return;
        queue.hungry = false;
        queue.woken = true;
        woken_.push_back(queue.name);
    }

    void make_ready(JobState& job) {
        job.state = JobState::State::ready;
        if (job.admitted) {
            job.queue.ready.push_back(job);
            wake(job.queue);
        } else {
            ++job.queue.held;
        }
    }

    /// Makes a job that is nowhere SCHEDULED or READY.
    void place(JobState& job, TimePoint now) {
        if (job.run_at <= now) {
            make_ready(job);
            return;
        }
        job.state = JobState::State::scheduled;
        const auto place = job.queue.scheduled.insert(&job).first;
        if (place == job.queue.scheduled.begin()) wake(job.queue);
    }

    /// Undoes `place`.
    void displace(JobState& job) {
        if (job.state == JobState::State::scheduled) {
            job.queue.scheduled.erase(&job);
        } else if (job.admitted) {
            job.queue.ready.remove(job);
        } else {
            --job.queue.held;
        }
    }

    void promote(QueueState& queue, TimePoint now) {
        for (int n = 0; n < promoted_max && !queue.scheduled.empty(); ++n) {
            auto* job = *queue.scheduled.begin();
            if (job->run_at > now) return;
            queue.scheduled.erase(queue.scheduled.begin());
            make_ready(*job);
        }
    }

    void hold(JobState& job, const Uid& worker, std::uint64_t fence) {
        job.state = JobState::State::pending;
        job.worker = worker;
        job.fence = fence;
        ++job.queue.pending;
        workers_[worker].jobs.emplace(fence, &job);
    }

    /// Ends a lease on the side of the job.
    void detach(JobState& job) {
        effects_.lease_ended(job);
        --job.queue.pending;
        job.fence = 0;
    }

    /// Ends a lease on both sides.
    void release(JobState& job) {
        workers_[job.worker].jobs.erase(job.fence);
        detach(job);
    }

    void join(JobState& job, Lane& lane) {
        lane.jobs.push_back(job);
        job.admitted = lane.edge == nullptr && lane.admitted < lane.width;
        if (job.admitted) {
            ++lane.admitted;
        } else if (lane.edge == nullptr) {
            lane.edge = &job;
        }
    }

    void leave(JobState& job) {
        auto& lane = *job.lane;
        if (lane.edge == &job) lane.edge = lane.jobs.next(job);
        lane.jobs.remove(job);
        if (job.admitted) --lane.admitted;
        fit(lane);
    }

    /// Lets jobs at the edge of a lane in while there is room, and keeps the last ones out again
    /// while a lane that became narrower holds too many. What is PENDING is let be.
    void fit(Lane& lane) {
        while (lane.edge != nullptr && lane.admitted < lane.width) {
            auto& job = *lane.edge;
            lane.edge = lane.jobs.next(job);
            ++lane.admitted;
            job.admitted = true;
            if (job.state == JobState::State::ready) {
                --job.queue.held;
                make_ready(job);
            }
        }
        while (lane.admitted > lane.width) {
            auto& job = *(lane.edge == nullptr ? lane.jobs.back() : lane.jobs.previous(*lane.edge));
            if (job.state == JobState::State::ready) {
                job.queue.ready.remove(job);
                ++job.queue.held;
            }
            lane.edge = &job;
            --lane.admitted;
            job.admitted = false;
        }
    }

    Effects& effects_;
    CounterTable& counters_;
    std::map<std::string, QueueState, std::less<>> queues_;
    std::map<Uid, Worker> workers_;
    std::vector<std::string> woken_;
    std::uint64_t order_ = 0;
    std::uint64_t fence_ = 0;
};

}  // namespace routemaster::detail
