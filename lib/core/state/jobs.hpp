/// @file
/// The job queues of the state machine: unique jobs, groups that keep them in order, leases.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/containers/hash_index.hpp"
#include "core/containers/intrusive_list.hpp"
#include "core/containers/slab.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/job_state.hpp"
#include "core/state/schedule.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/job.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// One queue.
struct QueueState {
    explicit QueueState(std::string what) : name{std::move(what)} {}

    std::string name;
    HashIndex<JobState> jobs;  ///< All, by their payloads.
    Schedule scheduled;
    ReadyJobs ready;          ///< READY and eligible, and not among the two below.
    std::size_t blocked = 0;  ///< READY and not eligible.

    // Only delivery jobs are not for everybody.

    std::map<std::string, CallbackState, std::less<>> callbacks;  ///< By their names.
    ReadyJobs abandoned;            ///< Their subscriber is gone: anybody may end them.
    std::size_t ready_for_few = 0;  ///< READY in these two.

    std::size_t pending = 0;
    /// A worker got less than it asked for and has not been woken since. Also of a queue that
    /// begins: who asked for its jobs before left no trace.
    bool hungry = true;
    bool woken = false;            ///< Stands in the list of queues to wake.
    bool callbacks_hungry = true;  ///< As `hungry`, of workers that serve callbacks.
    bool callbacks_woken = false;  ///< As `woken`, of `callback_watch`.
};

/// All queues, and the workers that hold jobs of them.
class JobTable {
public:
    JobTable(ChangeLog& changes, CounterTable& counters) : changes_{changes}, counters_{counters} {}
    JobTable(const JobTable&) = delete;
    JobTable& operator=(const JobTable&) = delete;
    ~JobTable() {
        for (auto& [name, queue] : queues_) {
            queue.jobs.each([this](JobState& job) { destroy(job); });
        }
    }

    /// The next number in the order of pushes.
    std::uint64_t next_order() noexcept { return ++order_; }

    /// The queue of that name, which begins here when it has no jobs yet. What is done to it next
    /// gives it one: a queue without jobs is forgotten.
    QueueState& queue(const std::string& name) {
        const auto found = queues_.find(name);
        if (found != queues_.end()) return found->second;
        return queues_.try_emplace(name, name).first->second;
    }

    /// The queue of that name; null when it has no jobs.
    [[nodiscard]] QueueState* find_queue(const std::string& name) {
        const auto found = queues_.find(name);
        return found == queues_.end() ? nullptr : &found->second;
    }

    /// The queue of delivery jobs, which is always there.
    [[nodiscard]] QueueState& deliveries() noexcept { return deliveries_; }

    /// Queues that take memory: those that have jobs, that of deliveries, and at most one more.
    [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }

    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job) const {
        return find(queue, job, payload_hash(job));
    }

    /// `hash` is that of the job: who finds none and pushes it needs it again.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job,
                                 std::uint32_t hash) const {
        return queue.jobs.find(hash, [&](const JobState& any) {
            if (any.payload.size() != job.size()) return false;
            return any.payload.resident() ? any.payload.text() == job : changes_.same(any, job);
        });
    }

    /// The job that was pushed with this number, whose hash is `hash`.
    [[nodiscard]] static JobState* find(const QueueState& queue, std::uint32_t hash,
                                        std::uint64_t order) {
        return queue.jobs.find(hash, [order](const JobState& any) { return any.order == order; });
    }

    /// The job that a lease gives the right to; null when the lease is lost.
    [[nodiscard]] JobState* leased(const Lease& lease) const {
        auto* job = leased_.find(mark(lease.fence),
                                 [&](const JobState& any) { return any.fence == lease.fence; });
        if (job == nullptr || job->worker->uid != lease.worker) return nullptr;
        return job->payload.text() == lease.job && job->queue.name == lease.queue ? job : nullptr;
    }

    /// Adds a job that is known not to exist yet.
    JobState& push(QueueState& queue, std::string_view job, TimePoint run_at, std::uint64_t order,
                   OrderingGroup* group, TimePoint now) {
        return push(queue, job, payload_hash(job), run_at, order, group, now);
    }
    JobState& push(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group, TimePoint now) {
        auto& state = make(queue, job, hash, run_at, order, group);
        if (group != nullptr) join(grouped(state));
        place(state, now);
        changes_.changed(state);
        return state;
    }

    /// Moves a job that is not PENDING to another instant.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now) {
        ROUTEMASTER_ASSERT(job.state != JobState::State::pending);
        displace(job);
        job.run_at = run_at;
        place(job, now);
        changes_.changed(job);
    }

    /// Ends a job, whatever its state.
    void remove(JobState& job) {
        changes_.gone(job);
        if (job.state == JobState::State::pending) {
            release(job);
        } else {
            displace(job);
        }
        if (job.in_order) leave(grouped(job));
        end(job);
    }

    /// Ends the lease of a job, which is to run again at `run_at`.
    void release(JobState& job, TimePoint run_at, TimePoint now) {
        release(job);
        job.run_at = run_at;
        place(job, now);
        if (job.in_order) fit(*job.group());
        changes_.changed(job);
    }

    Acquired acquire(QueueState& queue, const AcquireJobs& step, TimePoint now) {
        return acquire(queue, step, now, [](const JobState&) {});
    }

    /// Calls `reveal` with each job that it tells of. Throws `Failure` when there is a job, and it
    /// cannot be read: nothing was acquired then.
    template <class Reveal>
    Acquired acquire(QueueState& queue, const AcquireJobs& step, TimePoint now, Reveal reveal) {
        promote(queue, now);
        auto& holder = worker(step.worker);
        holder.seen = now;
        Acquired acquired;
        const auto report = [&](const JobState& job) {
            acquired.leases.push_back(lease_of(job));
            reveal(job);
        };
        for (auto* lost = first_beyond(holder, step.known); lost != nullptr;
             lost = holder.jobs.next(*lost)) {
            if (&lost->queue == &queue) report(*lost);
        }
        ReadyJobs* const only[]{&queue.ready};
        const auto some = &queue == &deliveries_ ? sources_of(step) : std::vector<ReadyJobs*>{};
        const std::span<ReadyJobs* const> sources{some.empty() ? std::span{only} : std::span{some}};
        std::size_t there = acquired.leases.size();
        for (const auto* source : sources) there += source->size();
        acquired.leases.reserve(std::min<std::size_t>(step.limit, there));
        const auto take = [&](ReadyJobs& source, std::size_t most) {
            for (; most > 0 && acquired.leases.size() < step.limit && !source.empty(); --most) {
                auto& job = *source.front();
                if (!job.payload.resident() && !load(job, acquired.leases.empty())) return;
                withdraw(job);
                grant(job, holder, ++fence_);
                report(job);
            }
        };
        const auto wanted = step.limit - std::min<std::size_t>(step.limit, acquired.leases.size());
        const auto filled = static_cast<std::size_t>(std::count_if(
            sources.begin(), sources.end(), [](const auto* any) { return !any->empty(); }));
        const auto share = std::max<std::size_t>(1, filled == 0 ? 0 : wanted / filled);
        for (const auto most : {share, wanted}) {
            for (auto* source : sources) take(*source, most);
        }
        if (std::any_of(sources.begin(), sources.end(),
                        [](const auto* any) { return !any->empty(); })) {
            acquired.next_due = now;
        } else {
            note_hunger(queue, step);
            if (!queue.scheduled.empty()) {
                acquired.next_due = std::max(queue.scheduled.first().run_at, now);
            }
        }
        return acquired;
    }

    void heartbeat(const Uid& uid, TimePoint now) { worker(uid).seen = now; }

    /// Gives back what a worker holds, oldest first, and forgets it.
    std::uint64_t retire(const Uid& uid, TimePoint now) {
        const auto found = workers_.find(uid);
        if (found == workers_.end()) return 0;
        const auto count = release(found->second, released_max, now, [](const JobState&) {});
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
            count += release(state, released_max - count, now, [this](const JobState& job) {
                counters_.add({"jobs.scrubbed", {{"queue", job.queue.name}}}, 1);
            });
            if (!state.jobs.empty()) break;
            counters_.add({"workers.scrubbed", {}}, 1);
            workers_.erase(dead);
        }
        return count;
    }

    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now) {
        const std::uint64_t due = queue.scheduled.count_due(now);
        const auto ready = queue.ready.size() + queue.ready_for_few + queue.blocked;
        return {queue.scheduled.size() - due, ready + due, queue.pending};
    }

    // --- Who may acquire what -------------------------------------------------------------------

    /// The deliveries of a group go to a URL from now on, or to the callback of that name.
    void direct(OrderingGroup& group, std::string_view callback) {
        if (callback.empty()) return direct(group, nullptr, nullptr);
        auto& callbacks = deliveries_.callbacks;
        auto found = callbacks.find(callback);
        if (found == callbacks.end()) {
            found = callbacks.try_emplace(std::string{callback}).first;
            found->second.name = found->first;
        }
        direct(group, &found->second.ready, &found->second);
        // A process names its callbacks again after a restart, and finds what waited.
        wake_callbacks(deliveries_);
    }

    /// The subscriber of a group is gone, and its deliveries are for anybody to end.
    void abandon(OrderingGroup& group) { direct(group, &deliveries_.abandoned, nullptr); }

    /// Lets a group have another number of jobs under way. Those that are stay under way.
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency) {
        group.concurrency = concurrency;
        fit(group);
    }

    /// Keeps all but the first `most` jobs of a group from being acquired.
    void narrow(OrderingGroup& group, std::uint32_t most) {
        if (group.limit() <= most) return;
        group.window = most;
        fit(group);
    }

    /// Lets a group have one job more after a success, and two less after a failure, but no more
    /// than `most`. What it may begin with it regains after failures, too: or one job that is
    /// never done would keep the others waiting.
    void adapt(OrderingGroup& group, bool success, std::uint32_t most) {
        if (group.concurrency == 1) return;
        const auto begin = std::min(group.concurrency, OrderingGroup::start);
        const auto before = group.limit();
        const auto after = success || before < begin ? before + 1 : std::max(before - 2, begin);
        const auto window = std::min({after, most, group.concurrency});
        group.window = window == begin ? OrderingGroup::start : window;
        fit(group);
    }

    /// Names of the queues whose watchers are to be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken() {
        for (const auto& name : woken_) {
            if (auto* queue = find_queue(name)) queue->woken = false;
        }
        deliveries_.callbacks_woken = false;
        return std::exchange(woken_, {});
    }

    // --- Restoring ------------------------------------------------------------------------------

    /// Puts a job into the index alone; `settle_restored` finds its place. Until then it stands in
    /// `ready`, in the order of the journal, which is about the order of all places.
    JobState& restore(QueueState& queue, std::string_view job, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group) {
        return restore(queue, job, payload_hash(job), run_at, order, group);
    }
    JobState& restore(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group) {
        auto& state = make(queue, job, hash, run_at, order, group);
        queue.ready.push_back(state);
        return state;
    }

    /// Takes a job out that has only been restored.
    void unrestore(JobState& job) {
        job.queue.ready.remove(job);
        end(job);
    }

    /// Gives every restored job its place, in the order of pushes, as SCHEDULED: what is due is
    /// promoted by the next acquisition, in the order it fell due.
    void settle_restored() {
        std::vector<GroupedJob*> ordered;
        for (auto& [name, queue] : queues_) {
            std::vector<JobState*> all;
            all.reserve(queue.ready.size());
            while (auto* job = queue.ready.front()) {
                queue.ready.remove(*job);
                all.push_back(job);
                if (job->in_order) ordered.push_back(&grouped(*job));
            }
            queue.scheduled.restore(std::move(all));
        }
        std::sort(ordered.begin(), ordered.end(),
                  [](const JobState* a, const JobState* b) { return a->order < b->order; });
        for (auto* job : ordered) join(*job);
        std::erase_if(queues_, [this](const auto& entry) {
            return entry.second.jobs.empty() && &entry.second != &deliveries_;
        });
        emptied_ = nullptr;
    }

    /// Calls `visit` with each job, queue by queue, in the order they were pushed.
    template <class Visit>
    void each(Visit visit) {
        for (auto& [name, queue] : queues_) {
            std::vector<JobState*> all;
            all.reserve(queue.jobs.size());
            queue.jobs.each([&](JobState& job) { all.push_back(&job); });
            std::sort(all.begin(), all.end(),
                      [](const JobState* a, const JobState* b) { return a->order < b->order; });
            for (auto* job : all) visit(*job);
        }
    }

    /// All leases that are held, for `reinstate`.
    [[nodiscard]] std::vector<Lease> leases() const {
        std::vector<Lease> all;
        for (const auto& [uid, worker] : workers_) {
            for (auto* job = worker.jobs.front(); job != nullptr; job = worker.jobs.next(*job)) {
                all.push_back(lease_of(*job));
            }
        }
        return all;
    }

    /// The last fence that was given out.
    [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

    /// Gives out only fences after `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { fence_ = std::max(fence_, fence); }

    /// Makes a restored job PENDING again under a lease that was held before. Nothing happens when
    /// the job is gone. Throws `Failure` when its payload cannot be read.
    void reinstate(const Lease& lease, TimePoint seen) {
        const auto* queue = find_queue(lease.queue);
        auto* job = queue == nullptr ? nullptr : find(*queue, lease.job);
        if (job == nullptr || job->state == JobState::State::pending) return;
        if (!job->payload.resident()) changes_.load(*job);
        displace(*job);
        auto& holder = worker(lease.worker);
        holder.seen = seen;
        grant(*job, holder, lease.fence);
    }

    /// The lease of a job that is PENDING.
    [[nodiscard]] static Lease lease_of(const JobState& job) {
        return {job.queue.name, std::string{job.payload.text()}, job.worker->uid, job.fence};
    }

private:
    /// Gives back the oldest jobs of a worker, at most `limit`; `each` is told of one just before.
    template <class Each>
    std::uint64_t release(Worker& worker, std::uint64_t limit, TimePoint now, Each each) {
        std::uint64_t count = 0;
        for (; count < limit && !worker.jobs.empty(); ++count) {
            auto& job = *worker.jobs.front();
            each(job);
            release(job, now, now);
        }
        return count;
    }

    /// Jobs promoted by one step at most; the rest waits for the next.
    static constexpr int promoted_max = 1'000;

    /// Makes a payload resident. When that fails, throws if there is nothing else to tell.
    bool load(JobState& job, bool nothing_else) {
        try {
            changes_.load(job);
            return true;
        } catch (const Failure&) {
            if (nothing_else) throw;
            return false;
        }
    }

    /// A job that stands in the index and nowhere else.
    JobState& make(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group) {
        auto& state = group == nullptr ? states_.make(queue, job, hash, run_at, order)
                                       : grouped_.make(*group, queue, job, hash, run_at, order);
        order_ = std::max(order_, order);
        queue.jobs.insert(hash, state);
        return state;
    }

    static GroupedJob& grouped(JobState& job) noexcept { return static_cast<GroupedJob&>(job); }

    void destroy(JobState& job) noexcept {
        job.in_order ? grouped_.destroy(grouped(job)) : states_.destroy(job);
    }

    /// Undoes `make`.
    void end(JobState& job) {
        auto& queue = job.queue;
        queue.jobs.remove(job.payload.hash(), job);
        destroy(job);
        if (queue.jobs.empty() && &queue != &deliveries_) forget_before(queue);
    }

    /// Forgets the queue that ran out of jobs before this one did, if it has none still. The last
    /// one is kept: where jobs come and go one by one, its memory need not.
    void forget_before(QueueState& queue) {
        auto* before = std::exchange(emptied_, &queue);
        if (before == nullptr || before == &queue || !before->jobs.empty()) return;
        queues_.erase(queues_.find(before->name));
    }

    /// Moves what is READY and eligible of a group, which is no more than the group is wide.
    void direct(OrderingGroup& group, ReadyJobs* ready, CallbackState* callback) {
        if (group.ready == ready) return;
        std::vector<JobState*> moved;
        for (auto* job = group.jobs.front(); job != group.first_blocked;
             job = group.jobs.next(*job)) {
            if (job->state != JobState::State::ready) continue;
            withdraw(*job);
            moved.push_back(job);
        }
        auto* before = std::exchange(group.callback, callback);
        if (callback != nullptr) ++callback->groups;
        group.ready = ready;
        for (auto* job : moved) offer(*job);
        if (before == nullptr || --before->groups > 0) return;
        deliveries_.callbacks.erase(deliveries_.callbacks.find(before->name));
    }

    /// What a worker may take of the deliveries, in the order in which it is served: first what
    /// anybody may, and then as it asked.
    [[nodiscard]] std::vector<ReadyJobs*> sources_of(const AcquireJobs& step) {
        auto& queue = deliveries_;
        if (!step.destinations) return {&queue.abandoned, &queue.ready};
        std::vector<ReadyJobs*> sources{&queue.abandoned};
        for (const auto& name : *step.destinations) {
            const auto found = queue.callbacks.find(name);
            if (name.empty()) sources.push_back(&queue.ready);
            if (found != queue.callbacks.end()) sources.push_back(&found->second.ready);
        }
        return sources;
    }

    void note_hunger(QueueState& queue, const AcquireJobs& step) {
        if (&queue != &deliveries_ || !step.destinations) {
            queue.hungry = true;
            return;
        }
        for (const auto& name : *step.destinations) {
            (name.empty() ? queue.hungry : queue.callbacks_hungry) = true;
        }
    }

    void wake_callbacks(QueueState& queue) {
        if (!queue.callbacks_hungry || queue.callbacks_woken) return;
        queue.callbacks_hungry = false;
        queue.callbacks_woken = true;
        woken_.emplace_back(callback_watch);
    }

    void wake(QueueState& queue) {
        if (!queue.hungry || queue.woken) return;
        queue.hungry = false;
        queue.woken = true;
        woken_.push_back(queue.name);
    }

    void make_ready(JobState& job) {
        job.state = JobState::State::ready;
        if (job.eligible) {
            offer(job);
        } else {
            ++job.queue.blocked;
        }
    }

    /// Lets a READY job be acquired by those who may.
    void offer(JobState& job) {
        auto& queue = job.queue;
        auto* few = job.in_order ? job.group()->ready : nullptr;
        if (few == nullptr) {
            queue.ready.push_back(job);
            return wake(queue);
        }
        few->push_back(job);
        ++queue.ready_for_few;
        wake_callbacks(queue);
        if (job.group()->callback == nullptr) wake(queue);
    }

    /// Undoes `offer`.
    static void withdraw(JobState& job) {
        auto* few = job.in_order ? job.group()->ready : nullptr;
        if (few == nullptr) return job.queue.ready.remove(job);
        few->remove(job);
        --job.queue.ready_for_few;
    }

    /// Makes a job that is nowhere SCHEDULED or READY.
    void place(JobState& job, TimePoint now) {
        if (job.run_at <= now) {
            make_ready(job);
            return;
        }
        job.state = JobState::State::scheduled;
        job.queue.scheduled.insert(job);
        if (&job.queue.scheduled.first() != &job) return;
        wake(job.queue);
        if (&job.queue == &deliveries_) wake_callbacks(job.queue);
    }

    /// Undoes `place`.
    void displace(JobState& job) {
        if (job.state == JobState::State::scheduled) {
            job.queue.scheduled.remove(job);
        } else if (job.eligible) {
            withdraw(job);
        } else {
            --job.queue.blocked;
        }
    }

    void promote(QueueState& queue, TimePoint now) {
        for (int n = 0; n < promoted_max && !queue.scheduled.empty(); ++n) {
            auto& job = queue.scheduled.first();
            if (job.run_at > now) return;
            queue.scheduled.remove(job);
            make_ready(job);
        }
    }

    Worker& worker(const Uid& uid) { return workers_.try_emplace(uid, uid).first->second; }

    /// The first job that a worker holds under a fence greater than `known`. What it was not told
    /// of is what it acquired last.
    [[nodiscard]] static JobState* first_beyond(const Worker& worker, std::uint64_t known) {
        JobState* first = nullptr;
        for (auto* job = worker.jobs.back(); job != nullptr && job->fence > known;
             job = worker.jobs.previous(*job)) {
            first = job;
        }
        return first;
    }

    /// Fences are numbered one after the other, and the lower half tells many apart.
    static std::uint32_t mark(std::uint64_t fence) noexcept {
        return static_cast<std::uint32_t>(fence);
    }

    void grant(JobState& job, Worker& holder, std::uint64_t fence) {
        job.state = JobState::State::pending;
        job.worker = &holder;
        job.fence = fence;
        ++job.queue.pending;
        // Only leases that are reinstated come behind newer ones.
        auto* before = holder.jobs.back();
        while (before != nullptr && before->fence > fence) before = holder.jobs.previous(*before);
        holder.jobs.insert_after(before, job);
        leased_.insert(mark(fence), job);
    }

    /// Ends the lease of a job, which is then nowhere.
    void release(JobState& job) {
        changes_.lease_ended(job);
        --job.queue.pending;
        leased_.remove(mark(job.fence), job);
        job.worker->jobs.remove(job);
        job.worker = nullptr;
        job.fence = 0;
    }

    void join(GroupedJob& job) {
        auto& group = job.group;
        group.jobs.push_back(job);
        job.eligible = group.first_blocked == nullptr && group.eligible < group.limit();
        if (job.eligible) {
            ++group.eligible;
        } else if (group.first_blocked == nullptr) {
            group.first_blocked = &job;
        }
    }

    void leave(GroupedJob& job) {
        auto& group = job.group;
        if (group.first_blocked == &job) group.first_blocked = group.jobs.next(job);
        group.jobs.remove(job);
        if (job.eligible) --group.eligible;
        fit(group);
    }

    /// Lets jobs at the the first blocked of a group in while there is room, and keeps the last
    /// ones out again while a group that became narrower holds too many. What is PENDING is let be.
    void fit(OrderingGroup& group) {
        while (group.first_blocked != nullptr && group.eligible < group.limit()) {
            auto& job = *group.first_blocked;
            group.first_blocked = group.jobs.next(job);
            ++group.eligible;
            job.eligible = true;
            if (job.state == JobState::State::ready) {
                --job.queue.blocked;
                make_ready(job);
            }
        }
        while (group.eligible > group.limit()) {
            auto& job =
                *(group.first_blocked == nullptr ? group.jobs.back()
                                                 : group.jobs.previous(*group.first_blocked));
            if (job.state == JobState::State::ready) {
                withdraw(job);
                ++job.queue.blocked;
            }
            group.first_blocked = &job;
            --group.eligible;
            job.eligible = false;
        }
    }

    ChangeLog& changes_;
    CounterTable& counters_;
    std::map<std::string, QueueState, std::less<>> queues_;
    QueueState& deliveries_ = queue(delivery_queue);
    QueueState* emptied_ = nullptr;  ///< The last that ran out of jobs, which it may have again.
    std::map<Uid, Worker> workers_;
    HashIndex<JobState> leased_;  ///< PENDING jobs, by their fences.
    Slab<JobState> states_;
    Slab<GroupedJob> grouped_;
    std::vector<std::string> woken_;
    std::uint64_t order_ = 0;
    std::uint64_t fence_ = 0;
};

}  // namespace routemaster::detail
