#include "core/state/jobs.hpp"

#include <span>
#include <utility>

#include "routemaster/counter.hpp"
#include "routemaster/detail/assert.hpp"

namespace routemaster::detail {

JobTable::~JobTable() {
    for (auto& [name, queue] : queues_) {
        queue.jobs.each([this](JobState& job) { destroy(job); });
    }
}

// --- Queues and their jobs ----------------------------------------------------------------------

QueueState& JobTable::queue(const std::string& name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return found->second;
    return queues_.try_emplace(name, name).first->second;
}

JobState* JobTable::find(const QueueState& queue, std::string_view job, std::uint32_t hash) const {
    return queue.jobs.find(hash, [&](const JobState& any) {
        if (any.payload.size() != job.size()) return false;
        return any.payload.resident() ? any.payload.text() == job : changes_.same(any, job);
    });
}

JobState& JobTable::make(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group) {
    auto& state = group == nullptr ? states_.make(queue, job, hash, run_at, order)
                                   : grouped_.make(*group, queue, job, hash, run_at, order);
    order_ = std::max(order_, order);
    queue.jobs.insert(hash, state);
    return state;
}

void JobTable::destroy(JobState& job) noexcept {
    job.in_order ? grouped_.destroy(grouped(job)) : states_.destroy(job);
}

void JobTable::end(JobState& job) {
    auto& queue = job.queue;
    queue.jobs.remove(job.payload.hash(), job);
    destroy(job);
    if (queue.jobs.empty() && !queue.of_deliveries) forget_before(queue);
}

void JobTable::forget_before(QueueState& queue) {
    auto* before = std::exchange(emptied_, &queue);
    if (before == nullptr || before == &queue || !before->jobs.empty()) return;
    queues_.erase(queues_.find(before->name));
}

JobState& JobTable::push(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group,
                         TimePoint now) {
    auto& state = make(queue, job, hash, run_at, order, group);
    if (group != nullptr) OrderingGroups::join(grouped(state));
    places_.place(state, now);
    changes_.changed(state);
    return state;
}

void JobTable::reschedule(JobState& job, TimePoint run_at, TimePoint now) {
    ROUTEMASTER_ASSERT(job.state != JobState::State::pending);
    JobPlaces::displace(job);
    job.run_at = run_at;
    places_.place(job, now);
    changes_.changed(job);
}

void JobTable::remove(JobState& job) {
    changes_.gone(job);
    if (job.state == JobState::State::pending) {
        leases_.end(job);
    } else {
        JobPlaces::displace(job);
    }
    if (job.in_order) groups_.leave(grouped(job));
    end(job);
}

void JobTable::release(JobState& job, TimePoint run_at, TimePoint now) {
    leases_.end(job);
    job.run_at = run_at;
    places_.place(job, now);
    if (job.in_order) groups_.fit(*job.group());
    changes_.changed(job);
}

QueueStatus JobTable::count(const QueueState& queue, TimePoint now) {
    const std::uint64_t due = queue.scheduled.count_due(now);
    const auto ready = queue.ready.size() + queue.ready_for_few + queue.blocked;
    return {queue.scheduled.size() - due, ready + due, queue.pending};
}

void JobTable::each(const std::function<void(JobState&)>& visit) {
    for (auto& [name, queue] : queues_) {
        std::vector<JobState*> all;
        all.reserve(queue.jobs.size());
        queue.jobs.each([&](JobState& job) { all.push_back(&job); });
        std::sort(all.begin(), all.end(),
                  [](const JobState* a, const JobState* b) { return a->order < b->order; });
        for (auto* job : all) visit(*job);
    }
}

std::vector<std::string> JobTable::take_woken() {
    for (const auto& name : wake_ups_.names()) {
        if (auto* queue = find_queue(name)) queue->woken = false;
    }
    deliveries_.callbacks_woken = false;
    return wake_ups_.take();
}

// --- Leases -------------------------------------------------------------------------------------

bool JobTable::load(JobState& job, bool nothing_else) {
    try {
        changes_.load(job);
        return true;
    } catch (const Failure&) {
        if (nothing_else) throw;
        return false;
    }
}

Acquired JobTable::acquire(QueueState& queue, const AcquireJobs& step, TimePoint now,
                           const Reveal& reveal) {
    places_.promote(queue, now);
    auto& holder = leases_.worker(step.worker);
    holder.seen = now;
    Acquired acquired;
    const auto report = [&](const JobState& job) {
        acquired.leases.push_back(LeaseTable::lease_of(job));
        reveal(job);
    };
    for (auto* lost = LeaseTable::first_beyond(holder, step.known); lost != nullptr;
         lost = holder.jobs.next(*lost)) {
        if (&lost->queue == &queue) report(*lost);
    }
    ReadyJobs* const only[]{&queue.ready};
    const auto some =
        queue.of_deliveries ? destinations_.sources_of(step) : std::vector<ReadyJobs*>{};
    const auto sources = queue.of_deliveries ? std::span<ReadyJobs* const>{some} : std::span{only};
    std::size_t there = acquired.leases.size();
    for (const auto* source : sources) there += source->size();
    acquired.leases.reserve(std::min<std::size_t>(step.limit, there));
    const auto take = [&](ReadyJobs& source, std::size_t most) {
        for (; most > 0 && acquired.leases.size() < step.limit && !source.empty(); --most) {
            auto& job = *source.front();
            if (!job.payload.resident() && !load(job, acquired.leases.empty())) return;
            JobPlaces::withdraw(job);
            leases_.grant(job, holder);
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
        WakeUps::note_hunger(queue, step);
        if (!queue.scheduled.empty()) {
            acquired.next_due = std::max(queue.scheduled.first().run_at, now);
        }
    }
    return acquired;
}

std::uint64_t JobTable::release(Worker& worker, std::uint64_t limit, TimePoint now,
                                const Reveal& each) {
    std::uint64_t count = 0;
    for (; count < limit && !worker.jobs.empty(); ++count) {
        auto& job = *worker.jobs.front();
        each(job);
        release(job, now, now);
    }
    return count;
}

std::uint64_t JobTable::retire(const Uid& uid, TimePoint now) {
    const auto found = leases_.workers().find(uid);
    if (found == leases_.workers().end()) return 0;
    const auto count = release(found->second, released_max, now, [](const JobState&) {});
    if (found->second.jobs.empty()) leases_.workers().erase(found);
    return count;
}

std::uint64_t JobTable::scrub(Duration silence, TimePoint now) {
    std::uint64_t count = 0;
    auto& workers = leases_.workers();
    for (auto worker = workers.begin(); worker != workers.end();) {
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
        workers.erase(dead);
    }
    return count;
}

// --- Restoring ----------------------------------------------------------------------------------

JobState& JobTable::restore(QueueState& queue, std::string_view job, std::uint32_t hash,
                            TimePoint run_at, std::uint64_t order, OrderingGroup* group) {
    auto& state = make(queue, job, hash, run_at, order, group);
    queue.ready.push_back(state);
    return state;
}

void JobTable::unrestore(JobState& job) {
    job.queue.ready.remove(job);
    end(job);
}

void JobTable::settle_restored() {
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
    for (auto* job : ordered) OrderingGroups::join(*job);
    std::erase_if(queues_, [](const auto& entry) {
        return entry.second.jobs.empty() && !entry.second.of_deliveries;
    });
    emptied_ = nullptr;
}

void JobTable::reinstate(const Lease& lease, TimePoint seen) {
    const auto* queue = find_queue(lease.queue);
    auto* job = queue == nullptr ? nullptr : find(*queue, lease.job);
    if (job == nullptr || job->state == JobState::State::pending) return;
    if (!job->payload.resident()) changes_.load(*job);
    JobPlaces::displace(*job);
    auto& holder = leases_.worker(lease.worker);
    holder.seen = seen;
    leases_.grant(*job, holder, lease.fence);
}

}  // namespace routemaster::detail
