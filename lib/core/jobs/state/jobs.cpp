#include "core/jobs/state/jobs.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/jobs/state/job_slice.hpp"
#include "routemaster/counter.hpp"
#include "routemaster/detail/assert.hpp"
#include "routemaster/error.hpp"

namespace routemaster::detail {

JobTable::JobTable(ChangeLog& changes, CounterTable& counters)
    : changes_{changes},
      counters_{counters},
      last_id_{sequences_.open("jobs")},
      reserved_fences_{sequences_.open("fences")},
      reserved_begun_{sequences_.open("begun")} {
    last_id_.label = "jobs";
    reserved_fences_.label = "fences";
    reserved_begun_.label = "begun";
    reserved_begun_.last = all_begun;
}

SequenceState& JobTable::last_batch() {
    auto& last = sequences_.open("job_batches");
    last.label = "job_batches";
    return last;
}

JobTable::~JobTable() {
    for (auto& [name, queue] : queues_) {
        queue.jobs.each([this](JobState& job) { destroy(job); });
    }
}

// --- Queues and their jobs ----------------------------------------------------------------------

QueueState& JobTable::queue(const std::string& name) {
    const auto found = queues_.find(name);
    if (found != queues_.end()) return found->second;
    return queues_.try_emplace(name, name, payloads_).first->second;
}

std::uint64_t JobTable::next_id() {
    ++last_id_.last;
    changes_.counted(last_id_);
    if (last_id_.last == 1) changes_.changed(reserved_begun_);
    return last_id_.last;
}

JobState* JobTable::find(const QueueState& queue, std::string_view job, std::uint32_t hash) const {
    return queue.jobs.find(hash, [&](const JobState& any) {
        if (any.payload.size() != job.size() || any.has_key()) return false;
        return any.payload.resident() ? any.payload.text() == job : changes_.same(any, job);
    });
}

JobState& JobTable::make(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group) {
    auto& state = group == nullptr
                      ? states_.make(payloads_, queue, job, hash, run_at, order)
                      : grouped_.make(*group, payloads_, queue, job, hash, run_at, order);
    order_ = std::max(order_, order);
    if (group != nullptr && queue.has_ids) ++group->members;
    if (queue.has_ids) last_id_.last = std::max(last_id_.last, order);
    queue.jobs.insert(hash, state);
    return state;
}

void JobTable::destroy(JobState& job) noexcept {
    job.payload.free(payloads_);
    job.in_order ? grouped_.destroy(grouped(job)) : states_.destroy(job);
}

void JobTable::end(JobState& job) {
    auto& queue = job.queue;
    auto* group = queue.has_ids ? job.group() : nullptr;
    queue.jobs.remove(job.payload.hash(), job);
    destroy(job);
    if (group != nullptr && --group->members == 0) queue.groups.close(*group);
    if (queue.jobs.empty() && !queue.of_deliveries) forget_before(queue);
}

void JobTable::forget_before(QueueState& queue) {
    auto* before = std::exchange(emptied_, &queue);
    if (before == nullptr || before == &queue || !before->jobs.empty() || before->kept()) return;
    if (found_last_ == before) found_last_ = nullptr;
    queues_.erase(queues_.find(before->name));
}

JobState& JobTable::push(QueueState& queue, std::string_view job, std::uint32_t hash,
                         TimePoint run_at, std::uint64_t order, OrderingGroup* group,
                         TimePoint now) {
    auto& state = make(queue, job, hash, run_at, order, group);
    if (group != nullptr) OrderingGroups::join(grouped(state));
    if (queue.has_ids) queue.by_id.insert(state);
    places_.place(state, now);
    changes_.changed(state);
    return state;
}

JobState& JobTable::push(QueueState& queue, const PushJob& step, std::uint32_t hash,
                         TimePoint now) {
    auto* group = group_of(queue, step.options.group);
    auto& state = make(queue, step.job, hash, step.run_at, next_id(), group);
    state.take_options(step.options);
    batches_.join(step.options.batch);
    wait_for(state, step.after);
    queue.by_id.insert(state);
    place(state, now);
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
    if (job.in_order && job.queue.has_ids) changes_.skipped(*job.group());
    take_away(job);
}

void JobTable::take_away(JobState& job) {
    changes_.gone(job);
    if (job.state == JobState::State::pending) {
        leases_.end(job);
    } else {
        JobPlaces::displace(job);
    }
    if (job.waiting) stop_waiting(job);
    if (job.in_order) groups_.leave(grouped(job));
    JobKeys::release(job);
    if (job.queue.has_ids) job.queue.by_id.remove(job);
    end(job);
}

bool JobTable::release(JobState& job, TimePoint run_at, TimePoint now) {
    if (is_last_attempt(job)) job.details->add_error(unreported_error, now);
    return end_attempt(job, run_at, now);
}

bool JobTable::is_last_attempt(JobState& job) {
    return job.counted && !job.cancelled() && !job.detailed().has_attempts_left();
}

bool JobTable::end_attempt(JobState& job, TimePoint run_at, TimePoint now) {
    const bool last = is_last_attempt(job);
    if (!job.cancelled()) note(job.queue, &QueueCounts::failed, now);
    if (!last) {
        put_back(job, run_at, now);
    } else {
        leases_.end(job);
        bury(job, now);
    }
    return last;
}

void JobTable::put_back(JobState& job, TimePoint run_at, TimePoint now) {
    if (job.cancelled()) return drop_cancelled(job, now);
    leases_.end(job);
    job.run_at = run_at;
    place(job, now);
    if (job.in_order) groups_.fit(*job.group());
    changes_.changed(job);
}

void JobTable::release_uncounted(JobState& job, TimePoint run_at, TimePoint now) {
    if (job.counted && job.details != nullptr) --job.details->attempts;
    put_back(job, run_at, now);
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

// --- Jobs that fail -----------------------------------------------------------------------------

bool JobTable::fail(JobState& job, const FailJob& step, TimePoint now) {
    if (job.cancelled()) {
        drop_cancelled(job, now);
        return false;
    }
    auto& details = job.detailed();
    details.add_error(step.error, now);
    note(job.queue, &QueueCounts::failed, now);
    const bool too_long = details.failing_for(step.time_max, now);
    const bool last = step.bury || too_long || !details.has_attempts_left();
    if (!last) {
        put_back(job, step.run_at, now);
    } else {
        leases_.end(job);
        bury(job, now);
    }
    return last;
}

std::size_t JobTable::bury(JobState& job, TimePoint now) {
    auto& queue = job.queue;
    skip(job);
    job.detailed().buried_at = now;
    queue.buried.add(job);
    batches_.end(job.batch(), &JobBatchProgress::buried);
    note(queue, &QueueCounts::buried, now);
    changes_.changed(job);
    // Removes at most two jobs: the oldest, and another to make up for a dependent buried by the
    // first removal.
    std::size_t others = 0;
    for (int n = 0; n < 2 && queue.buried.size() > buried_max; ++n) {
        counters_.add({"jobs.forgotten", {{"queue", queue.name}}}, 1);
        others += drop(*queue.buried.first(), JobFate::forgotten, now);
    }
    return others;
}

bool JobTable::is_unfit(const JobState& job, TimePoint now) noexcept {
    if (job.details == nullptr) return false;
    const auto& details = *job.details;
    return details.cancelled || details.has_expired(now) || !details.has_attempts_left();
}

std::size_t JobTable::end_unfit(JobState& job, TimePoint now) {
    auto& details = *job.details;
    if (details.cancelled) {
        drop_cancelled(job, now);
        return 1;
    }
    if (details.has_expired(now)) {
        counters_.add({"jobs.expired", {{"queue", job.queue.name}}}, 1);
        note(job.queue, &QueueCounts::expired, now);
        return 1 + drop(job, JobFate::expired, now);
    }
    if (!job.payload.resident()) changes_.load(job);
    JobPlaces::displace(job);
    details.add_error(unreported_error, now);
    details.cut_off = false;
    died_last_.push_back({job.queue.name, job.order});
    return 1 + bury(job, now);
}

std::uint64_t JobTable::kick(QueueState& queue, const KickJobs& step, TimePoint now) {
    auto* const named = step.id ? queue.by_id.find(*step.id) : nullptr;
    if (named != nullptr && named->state == JobState::State::scheduled) {
        if (named->waiting || named->run_at <= now) return 0;
        if (!named->payload.resident()) changes_.load(*named);
        JobPlaces::displace(*named);
        named->run_at = now;
        place(*named, now);
        changes_.changed(*named);
        return 1;
    }
    std::uint64_t kicked = 0;
    const auto kick = [&](JobState& job) {
        queue.buried.remove(job);
        batches_.exhume(job.batch());
        auto& details = *job.details;
        details.buried_at.reset();
        details.failing_since.reset();
        details.attempts = 0;
        details.options.expires_at = never;
        job.run_at = now;
        place(job, now);
        changes_.changed(job);
        ++kicked;
    };
    const auto next = [&] {
        return step.id ? queue.buried.by_id().find(*step.id) : queue.buried.first();
    };
    JobSlice slice{step.limit};
    for (auto* job = next(); job != nullptr && slice.take(*job); job = next()) {
        try {
            if (!job->payload.resident()) changes_.load(*job);
        } catch (const Failure&) {
            if (kicked == 0) throw;
            break;
        }
        kick(*job);
    }
    return kicked;
}

// --- Leases -------------------------------------------------------------------------------------

/// Counts an attempt. Recording it in a journal costs a commit. The first attempt is therefore
/// recorded only if a crash must not hide it: the job has a single attempt, can expire, releases
/// its key at its beginning, or may have begun before a restart.
void JobTable::begin_attempt(JobState& job) {
    bool recorded = job.maybe_begun;
    // Records of the attempt and of the whole job both contain `details`.
    if (recorded || job.details != nullptr) {
        auto& details = job.detailed();
        ++details.attempts;
        details.begun = true;
        const auto& options = details.options;
        const bool frees_key = options.key.scope == KeyScope::until_started;
        if (frees_key) JobKeys::release(job);
        recorded = recorded || details.attempts > 1 || options.attempts_max == 1 ||
                   options.expires_at != never || frees_key;
    }
    job.counted = true;
    if (recorded) changes_.attempted(job);
    if (job.order > reserved_begun_.last) reserve_begun(job.order);
}

/// Reserves many ids at once, because an acquisition waits until the record of the reservation is
/// on disk.
void JobTable::reserve_begun(JobId id) {
    constexpr JobId at_once = 1U << 16U;
    reserved_begun_.last = id + at_once;
    changes_.changed(reserved_begun_);
}

Acquired JobTable::acquire(QueueState& queue, const AcquireJobs& step, TimePoint now,
                           const std::function<void(const JobState&)>& reveal) {
    if (!queue.paused) promote(queue, now);
    auto& holder = leases_.worker(step.worker);
    holder.seen = now;
    Acquired acquired;
    std::size_t bytes = 0;
    const auto report = [&](const JobState& job) {
        LeaseTable::describe(job, acquired.leases.emplace_back());
        bytes += job.payload.size();
        reveal(job);
    };
    for (auto* lost = LeaseTable::first_beyond(holder, step.known); lost != nullptr;
         lost = holder.jobs.next(*lost)) {
        if (&lost->queue != &queue) continue;
        if (lost->fence > step.newest) {
            report(*lost);
        } else {
            acquired.held.push_back(lost->fence);
        }
    }
    if (queue.paused) {
        WakeUps::note_hunger(queue, step);
        return acquired;
    }
    const auto before =
        step.explain && queue.has_ids ? std::optional{count(queue, now)} : std::nullopt;
    auto* const rates = queue.rates.get();
    const auto returned = acquired.leases.size() + acquired.held.size();
    const auto wanted = step.limit - std::min<std::size_t>(step.limit, returned);
    auto leases_max = acquired.leases.size() + wanted;
    if (rates != nullptr) {
        leases_max = std::min(leases_max, acquired.leases.size() + rates->tokens(now));
    }
    const auto newest = std::max(leases_.fence(), step.newest);
    ReadyJobs* const only[]{&queue.ready};
    const auto some =
        queue.of_deliveries ? destinations_.sources_of(step) : std::vector<ReadyJobs*>{};
    const auto sources = queue.of_deliveries ? std::span<ReadyJobs* const>{some} : std::span{only};
    const auto front = [&](const ReadyJobs& source) {
        return &source == &queue.ready ? queue.first_ready() : source.front();
    };
    const auto has_jobs = [&](const ReadyJobs* source) { return front(*source) != nullptr; };
    std::size_t there = acquired.leases.size() + queue.ranked.size();
    if (rates != nullptr) there += rates->throttled();
    for (const auto* source : sources) there += source->size();
    acquired.leases.reserve(std::min<std::size_t>(step.limit, there));
    std::size_t ended = 0;
    JobSlice ends{ended_at_acquisition_max};
    const auto take = [&](ReadyJobs& source, std::size_t most) {
        while (most > 0 && acquired.leases.size() < leases_max) {
            auto* first = front(source);
            auto* const opened = rates == nullptr ? nullptr : rates->opened_before(first, now);
            if (first == nullptr && opened == nullptr) return;
            if (ended >= ended_at_acquisition_max) return;
            if (opened != nullptr) {
                first = opened;
            } else if (rates != nullptr) {
                first = rates->in_turn(*first, now);
                if (first == nullptr) {
                    ++ended;
                    continue;
                }
            }
            auto& job = *first;
            try {
                if (is_unfit(job, now)) {
                    if (!ends.take(job)) return;
                    ended += end_unfit(job, now);
                    continue;
                }
                if (is_kept_apart(job)) {
                    put_off(job, now);
                    ++ended;
                    continue;
                }
                const bool fits = bytes + job.payload.size() <= job_slice_bytes_max;
                if (!fits && !acquired.leases.empty()) return;
                if (!job.payload.resident()) changes_.load(job);
            } catch (const Failure&) {
                if (acquired.leases.empty() && ended == 0) throw;
                return;
            }
            if (job.cut_off() && note_death(job, now)) {
                ++ended;
                continue;
            }
            if (before && acquired.explained.empty()) {
                acquired.explained.push_back({.status = status(job, now), .queue = *before});
            }
            JobPlaces::withdraw(job);
            if (rates != nullptr) rates->take(job, now);
            if (queue.has_ids) begin_attempt(job);
            leases_.skip_fences(step.newest);
            leases_.grant(job, holder);
            report(job);
            --most;
        }
    };
    const auto filled =
        static_cast<std::size_t>(std::count_if(sources.begin(), sources.end(), has_jobs));
    const auto share = std::max<std::size_t>(1, filled == 0 ? 0 : wanted / filled);
    for (const auto most : {share, wanted}) {
        for (auto* source : sources) take(*source, most);
    }
    if (leases_.fence() > newest) LeaseTable::note_time(holder, newest + 1, now);
    reserve_fences();
    const bool opened = rates != nullptr && rates->opens_at() <= now;
    // The queue has a token left, but this worker has no free slot. Wakes another worker, which may
    // have a free slot.
    if (opened && rates->tokens(now) > 0) wake_ups_.wake(queue);
    const bool more = opened || std::any_of(sources.begin(), sources.end(), has_jobs) ||
                      (rates != nullptr && rates->going_back());
    if (more) {
        // The worker polls again when the queue has a token. A wake-up is not needed.
        acquired.next_due = rates == nullptr ? now : rates->next(now);
        return acquired;
    }
    WakeUps::note_hunger(queue, step);
    if (!queue.scheduled.empty()) {
        acquired.next_due = std::max(queue.scheduled.first().run_at, now);
    }
    if (rates != nullptr) {
        const auto due = std::min(acquired.next_due, rates->opens_at());
        acquired.next_due = due == never ? never : std::max(due, rates->next(now));
    }
    return acquired;
}

/// A journal does not record leases. It records an upper bound of all assigned fences, to avoid
/// assigning a fence twice.
void JobTable::reserve_fences() {
    if (leases_.fence() <= reserved_fences_.last) return;
    constexpr std::uint64_t at_once = 1U << 20U;
    reserved_fences_.last = leases_.fence() + at_once;
    changes_.changed(reserved_fences_);
}

void JobTable::release_all(Worker& worker, JobSlice& slice,
                           const std::function<void(JobState&)>& release) {
    while (auto* job = worker.jobs.front()) {
        if (!slice.take(*job)) return;
        release(*job);
    }
}

ReleasedJobs JobTable::retire(const Uid& uid, TimePoint now) {
    const auto found = leases_.workers().find(uid);
    if (found == leases_.workers().end()) return {};
    JobSlice slice{released_max};
    release_all(found->second, slice, [&](JobState& job) { release_uncounted(job, now, now); });
    const bool more = !found->second.jobs.empty();
    if (!more) leases_.workers().erase(found);
    return {.jobs = slice.jobs(), .more = more};
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
    if (reserved_begun_.last == all_begun) reserved_begun_.last = last_id_.last;
    std::vector<GroupedJob*> ordered;
    for (auto& [name, queue] : queues_) {
        std::vector<JobState*> all;
        std::vector<JobState*> buried;
        all.reserve(queue.ready.size());
        while (auto* job = queue.ready.front()) {
            queue.ready.remove(*job);
            if (queue.has_ids) queue.by_id.insert(*job);
            job->maybe_begun = job->order <= reserved_begun_.last;
            JobKeys::restore(*job);
            const bool is_buried = job->details != nullptr && job->details->buried_at;
            (is_buried ? buried : all).push_back(job);
            // A job with an id joins its group only when first due. A position other than 0 proves
            // that the job has joined.
            const bool joined = job->in_order && (!queue.has_ids || grouped(*job).position != 0);
            if (joined) ordered.push_back(&grouped(*job));
        }
        std::erase_if(all, [](JobState* job) {
            if (job->details == nullptr || job->details->after.empty()) return false;
            wait_for(*job, std::vector<JobId>{job->details->after});
            if (job->waiting) ++job->queue.waiting;
            return bool{job->waiting};
        });
        for (const auto* job : all) {
            const bool used_up = queue.has_ids && is_used_up(*job);
            if (used_up || job->cut_off()) cut_off_.emplace_back(name, job->order);
        }
        queue.scheduled.restore(std::move(all));
        std::sort(buried.begin(), buried.end(), [](const JobState* a, const JobState* b) {
            return std::pair{*a->details->buried_at, a->order} <
                   std::pair{*b->details->buried_at, b->order};
        });
        for (auto* job : buried) queue.buried.add(*job);
    }
    std::sort(ordered.begin(), ordered.end(), [](const GroupedJob* a, const GroupedJob* b) {
        return std::pair{a->position, a->order} < std::pair{b->position, b->order};
    });
    for (auto* job : ordered) {
        job->queue.has_ids ? groups_.enter(*job) : OrderingGroups::join(*job);
    }
    leases_.skip_fences(reserved_fences_.last);
    keys_.kept().settle_restored();
    idempotency_keys_.settle_restored();
    batches_.settle_restored();
    settle_paused();
    settle_limited();
    std::erase_if(queues_, [](const auto& entry) {
        return entry.second.jobs.empty() && !entry.second.kept();
    });
    emptied_ = nullptr;
    found_last_ = nullptr;
}

void JobTable::reinstate(const Lease& lease, TimePoint seen) {
    const auto* queue = find_queue(lease.queue);
    if (queue == nullptr) return;
    auto* job = lease.id != 0 ? queue->by_id.find(lease.id) : find(*queue, lease.job);
    if (job == nullptr || job->state == JobState::State::pending) return;
    if (job->state == JobState::State::buried || job->waiting) return;
    if (!job->payload.resident()) changes_.load(*job);
    JobPlaces::displace(*job);
    auto& holder = leases_.worker(lease.worker);
    holder.seen = seen;
    if (queue->has_ids) {
        auto& details = job->detailed();
        details.attempts = std::max({details.attempts, lease.attempt, 1U});
        details.cut_off = false;
        job->counted = true;
    }
    // The original grant time is not stored. The last sign of life replaces it.
    if (holder.times.empty()) LeaseTable::note_time(holder, 0, seen);
    leases_.grant(*job, holder, lease.fence);
}

}  // namespace routemaster::detail
