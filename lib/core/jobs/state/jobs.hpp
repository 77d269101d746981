/// @file
/// The job queues of the state machine.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/containers/prefetch.hpp"
#include "core/containers/slab.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/jobs/state/destinations.hpp"
#include "core/jobs/state/idempotency_keys.hpp"
#include "core/jobs/state/job_batches.hpp"
#include "core/jobs/state/job_keys.hpp"
#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/leases.hpp"
#include "core/jobs/state/limited_queue.hpp"
#include "core/jobs/state/ordering_groups.hpp"
#include "core/jobs/state/paused_queue.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/jobs/state/served_queues.hpp"
#include "core/jobs/state/throughput.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "core/state/sequence.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

class JobSlice;

/// Why a job was removed without success.
enum class JobFate : std::uint8_t { deleted, cancelled, expired, forgotten };

/// Describes the fate in an error of a dependent job, for example "was deleted".
[[nodiscard]] std::string_view text_of(JobFate fate) noexcept;

/// Table of all job queues and their jobs.
///
/// A *detached* job is only in the index of its queue: it is not SCHEDULED, READY, PENDING or
/// BURIED. A *dependent* is a job that waits for another job.
///
/// Not thread safe.
class JobTable {
public:
    /// `changes` and `counters` must outlive the table.
    JobTable(ChangeLog& changes, CounterTable& counters);
    JobTable(const JobTable&) = delete;
    JobTable& operator=(const JobTable&) = delete;
    ~JobTable();

    /// Sets the current time for the following calls.
    void set_now(TimePoint now) noexcept { groups_.set_now(now); }

    /// The next push number, for a job without an id.
    std::uint64_t next_order() noexcept { return ++order_; }
    /// The next job id. It is also the push number of the job.
    std::uint64_t next_id();

    /// The queue of this name, created if missing. The caller must then push a job, because a queue
    /// without jobs is removed.
    QueueState& queue(const std::string& name);

    /// The queue of this name; null if it does not exist.
    [[nodiscard]] QueueState* find_queue(const std::string& name) {
        if (found_last_ != nullptr && found_last_->name == name) return found_last_;
        const auto found = queues_.find(name);
        if (found == queues_.end()) return nullptr;
        return found_last_ = &found->second;
    }

    /// The queue of delivery jobs, which always exists.
    [[nodiscard]] QueueState& deliveries() noexcept { return deliveries_; }

    /// Number of queues in memory: queues with jobs, a pause or rate limits; the delivery queue;
    /// and at most one queue that has just become empty.
    [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }
    /// Number of queues with jobs, a pause or rate limits, except the delivery queue.
    [[nodiscard]] std::size_t lasting_queues() const noexcept {
        const bool over = emptied_ != nullptr && emptied_->jobs.empty() && !emptied_->kept();
        return queues_.size() - (over ? 2 : 1);
    }

    /// The job with this payload and without a key; null if missing.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job) const {
        return find(queue, job, payload_hash(job));
    }
    /// As above, with the hash of `job`. A caller that also pushes the job needs to compute the
    /// hash only once.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job,
                                 std::uint32_t hash) const;

    /// The job with this push number and payload hash; null if missing.
    [[nodiscard]] static JobState* find(const QueueState& queue, std::uint32_t hash,
                                        std::uint64_t order) {
        return queue.jobs.find(hash, [order](const JobState& any) { return any.order == order; });
    }

    /// The job under this lease; null when the lease is lost.
    [[nodiscard]] JobState* leased(const Lease& lease) const {
        auto* job = leases_.find(lease);
        if (job != nullptr) fetch(*job);
        return job;
    }

    /// Prefetches the data needed to end a job, except the job itself, into the processor's cache.
    static void fetch(const JobState& job) noexcept {
        job.queue.jobs.fetch(job.payload.hash());
        prefetch(job.group());
    }
    /// Prefetches the data needed to push a job with this hash into the processor's cache.
    static void fetch(const QueueState& queue, std::uint32_t hash,
                      const std::string& group) noexcept {
        queue.jobs.fetch(hash);
        if (!group.empty()) queue.groups.fetch(group);
    }

    /// Prefetches the index entries of the jobs in the first `prefetched_max` steps into the
    /// processor's cache. To be called before the steps are performed. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// Adds a job. The caller must have checked that no equal job exists.
    JobState& push(QueueState& queue, std::string_view job, TimePoint run_at, std::uint64_t order,
                   OrderingGroup* group, TimePoint now) {
        return push(queue, job, payload_hash(job), run_at, order, group, now);
    }
    JobState& push(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group, TimePoint now);

    /// Adds a job with options to a queue whose jobs have ids. The caller must have checked
    /// `may_push`.
    JobState& push(QueueState& queue, const PushJob& step, std::uint32_t hash, TimePoint now);

    /// An error when a push may not wait for a job in its list, or may not join its batch.
    [[nodiscard]] Result<void> may_push(const PushJob& step) const;

    /// A function to be called with each entity whose state a reply reveals.
    using Reveal = std::function<void(const Entity&)>;

    /// Adds a job with a key. If another job has the key, the push is a duplicate or replaces that
    /// job, as `step.on_duplicate` demands.
    Result<Pushed> push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal);
    /// Adds a job with a key. If another job has the key, that job loses the key.
    Pushed add_with_key(const PushJob& step, TimePoint now);

    /// Changes the due time of a job. The job must not be PENDING.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now);

    /// Removes a job in any state. The job must have no dependents.
    void remove(JobState& job);
    /// Removes a job after its success, and releases its dependents.
    void complete(JobState& job, TimePoint now);
    /// Removes a job that did not succeed. Its dependents become BURIED with an error that names
    /// `fate`. Returns the number of these dependents, at most `job_dependents_max`.
    std::size_t drop(JobState& job, JobFate fate, TimePoint now);

    /// Ends a lease and counts the attempt. The job is due again at `run_at`. If this was the last
    /// attempt, the job becomes BURIED instead and the result is true.
    bool release(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends a lease without counting the attempt. The job is due again at `run_at`.
    void release_uncounted(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends an attempt that failed. Returns true when the job is now BURIED.
    bool fail(JobState& job, const FailJob& step, TimePoint now);

    /// Removes a job. A PENDING job is only marked as cancelled, to make its worker stop the
    /// attempt.
    Cancellation cancel(JobState& job, TimePoint now);

    /// Pauses a queue: workers can acquire no jobs from it.
    void pause(const std::string& name);
    void resume(const std::string& name);

    void limit(const std::string& name, const RateLimits& limits);

    /// Makes BURIED jobs READY and returns their number. A step with a job id can also make a
    /// SCHEDULED job READY.
    std::uint64_t kick(QueueState& queue, const KickJobs& step, TimePoint now);

    /// The ordering group named by a push, in a queue whose jobs have ids. Null if the push names
    /// no group.
    [[nodiscard]] static OrderingGroup* group_of(QueueState& queue, const std::string& name);

    /// Throws `Failure` when the job cannot be read from the journal.
    [[nodiscard]] JobStatus status(const JobState& job, TimePoint now) const;
    /// Throws `Failure` when the job cannot be read from the journal.
    [[nodiscard]] JobExplanation explain(const JobState& job, TimePoint now) const;
    /// Throws `Failure` when a job cannot be read from the journal.
    [[nodiscard]] JobPage list(const QueueState& queue, const ListJobs& step, TimePoint now) const;

    /// Leases READY jobs to a worker. Throws `Failure` when the first job cannot be read from the
    /// journal; then no job was leased.
    Acquired acquire(
        QueueState& queue, const AcquireJobs& step, TimePoint now,
        const std::function<void(const JobState&)>& reveal = [](const JobState&) {});

    /// Records a sign of life of a worker. Returns the fences of the worker's cancelled jobs.
    std::vector<std::uint64_t> heartbeat(const Uid& uid, TimePoint now);
    void note_profile(const Heartbeat& heartbeat, TimePoint now);

    /// Releases a limited number of a worker's jobs, oldest first. Removes the worker after its
    /// last job.
    ReleasedJobs retire(const Uid& uid, TimePoint now);

    /// Releases the jobs of all workers that have been silent for `silence` or longer, and removes
    /// these workers. After a long time without a scrub, silent workers get one grace period
    /// (`ScrubWorkers`).
    ReleasedJobs scrub(Duration silence, TimePoint now);

    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now);

    /// The queues with jobs, a pause or rate limits, sorted by name.
    [[nodiscard]] std::vector<ListedQueue> list_queues(const Page& page, TimePoint now) const;

    /// The number of live workers of a queue, and how many of them have a handler of this name.
    [[nodiscard]] QueueWorkers workers_of(std::string_view queue, std::string_view handler,
                                          TimePoint now) const;
    [[nodiscard]] std::vector<ListedWorker> list_workers(const Page& page) const;

    [[nodiscard]] const ThroughputTable& throughput() const noexcept { return throughput_; }

    // --- Batches of jobs ------------------------------------------------------------------------

    [[nodiscard]] JobBatchTable& batches() noexcept { return batches_; }
    /// Ends the batches that the current step completed. To be called at the end of each step.
    void settle_batches(TimePoint now);

    // --- Which jobs a worker may acquire: see `Destinations` and `OrderingGroups` ---------------

    void direct(OrderingGroup& group, std::string_view callback) {
        destinations_.direct(group, callback);
    }
    void abandon(OrderingGroup& group) { destinations_.abandon(group); }
    void set_concurrency(OrderingGroup& group, std::uint32_t concurrency) {
        groups_.set_concurrency(group, concurrency);
    }
    void narrow(OrderingGroup& group, std::uint32_t most) { groups_.narrow(group, most); }
    void adapt(OrderingGroup& group, bool success, std::uint32_t most) {
        groups_.adapt(group, success, most);
    }

    /// Names of the queues whose watching workers must be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken();
    /// Adds `recurring_watch`, the watch of the schedulers of recurring jobs, to these names.
    void wake_schedulers() { wake_ups_.wake_schedulers(); }
    /// Access for wake-ups of watches that are not queues.
    [[nodiscard]] WakeUps& wake_ups() noexcept { return wake_ups_; }

    // --- Restoring ------------------------------------------------------------------------------

    /// The last assigned id of each kind.
    [[nodiscard]] NamedTable<SequenceState>& sequences() noexcept { return sequences_; }
    /// Keys that still exclude jobs after their own job was completed.
    [[nodiscard]] KeptKeys& kept_keys() noexcept { return keys_.kept(); }
    [[nodiscard]] IdempotencyKeys& idempotency_keys() noexcept { return idempotency_keys_; }
    [[nodiscard]] NamedTable<PausedQueueState>& paused() noexcept { return paused_; }
    [[nodiscard]] NamedTable<LimitedQueueState>& limited() noexcept { return limited_; }

    /// Adds a restored job to the index and to `ready`, in the order of the journal.
    /// `settle_restored` later moves the job to its final list.
    JobState& restore(QueueState& queue, std::string_view job, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group) {
        return restore(queue, job, payload_hash(job), run_at, order, group);
    }
    JobState& restore(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group);

    /// Removes a restored job. To be called before `settle_restored`.
    void unrestore(JobState& job);

    /// Makes every restored job SCHEDULED, BURIED or waiting, in the order of pushes. The next
    /// acquisition makes due jobs READY in the order of their due times.
    void settle_restored();

    /// Calls `visit` with each job, queue by queue, in the order of pushes.
    void each(const std::function<void(JobState&)>& visit);

    /// All leases, to be passed to `reinstate` by a later process.
    [[nodiscard]] std::vector<Lease> leases() const { return leases_.all(); }
    [[nodiscard]] static Lease lease_of(const JobState& job) { return LeaseTable::lease_of(job); }
    /// Its number is an upper bound for assigned fences. The number must be on disk before a fence
    /// up to it is used.
    [[nodiscard]] const SequenceState& reserved_fences() const noexcept { return reserved_fences_; }
    /// Its number is an upper bound for the ids of begun jobs. The number must be on disk before a
    /// job with such an id begins.
    [[nodiscard]] const SequenceState& reserved_begun() const noexcept { return reserved_begun_; }
    [[nodiscard]] std::uint64_t fence() const noexcept { return leases_.fence(); }
    /// From now on, assigns only fences greater than `fence`.
    void skip_fences(std::uint64_t fence) noexcept { leases_.skip_fences(fence); }

    /// Makes a restored job PENDING again under its former lease. Does nothing when the job no
    /// longer exists. Throws `Failure` when its payload cannot be read.
    void reinstate(const Lease& lease, TimePoint seen);

private:
    /// Makes a detached job SCHEDULED or READY.
    void place(JobState& job, TimePoint now);
    /// Makes deliveries READY if their delay exceeds the longest allowed delay. Their due time was
    /// set while the clock was ahead.
    void hasten(QueueState& queue, TimePoint now);
    /// Makes due jobs READY, at most `JobPlaces::promoted_max`.
    void promote(QueueState& queue, TimePoint now);
    /// Begins an acquisition from a queue with rate limits. Jobs that former limits throttled
    /// become READY again, at most `promoted_max`.
    void begin_limited(QueueState& queue, TimePoint now);
    /// Adds the jobs ahead of `job` in its group to an explanation.
    static void name_those_before(const JobState& job, JobExplanation& all);
    /// Appends a due job to its ordering group. False if the job has no group or was already in it.
    bool enter_group(JobState& job);
    /// Removes a detached, unsuccessful job from its ordering group, if any.
    void skip(JobState& job);

    /// Replaces the content of a waiting job with the content of another push.
    void replace(JobState& job, const PushJob& step, TimePoint now);
    /// Replaces a detached job by a new job in the ordering group of `step`, because a job cannot
    /// change its group. The new job does not have the key yet.
    JobState& regroup(JobState& job, const PushJob& step);
    /// Removes a job in any state. Unlike `remove`, does not record the removal in the job's group.
    void take_away(JobState& job);
    void begin_attempt(JobState& job);
    /// Whether the current attempt counts and is the last allowed attempt.
    [[nodiscard]] static bool is_last_attempt(JobState& job);
    /// Ends a lease and counts the attempt. Its error must have been added before. The job is due
    /// again at `run_at`; true when it became BURIED instead.
    bool end_attempt(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends the lease of a job and makes the job SCHEDULED or READY. The number of attempts must
    /// already be correct.
    void put_back(JobState& job, TimePoint run_at, TimePoint now);
    /// After a long time without a scrub, grants silent workers one grace period.
    void spare_silent(Duration silence, TimePoint now);
    /// Raises the reserved bound of fences when assigned fences have reached it.
    void reserve_fences();
    /// Raises the reserved bound of begun ids when a job beyond it begins.
    void reserve_begun(JobId id);
    /// Whether a READY job must be removed or buried instead of being acquired, for example because
    /// it has expired.
    [[nodiscard]] static bool is_unfit(const JobState& job, TimePoint now) noexcept;
    /// Removes or buries a job for which `is_unfit` is true. Returns the number of jobs removed or
    /// BURIED.
    std::size_t end_unfit(JobState& job, TimePoint now);
    [[nodiscard]] static bool is_used_up(const JobState& job) noexcept {
        return job.details != nullptr && !job.details->has_attempts_left();
    }
    /// The job with this id if it is due, and if its attempts are used up or a crash ended its last
    /// attempt without recording the error. Otherwise null.
    JobState* due_and_cut_off(const std::string& name, JobId id, TimePoint now);
    /// Handles due restored jobs whose last attempt ended with a crash of the process: stores the
    /// error, and buries jobs without further attempts. Handles a limited number of jobs per call.
    void settle_cut_off(TimePoint now);
    /// Stores the error of an attempt that ended with the death of its process. True when the job
    /// must wait before its next attempt.
    bool note_death(JobState& job, TimePoint now);
    /// When a job is due again after its attempt ended with the death of its worker. The first
    /// deaths cause no delay. From `isolated_deaths` deaths on there is a delay, which doubles with
    /// each death.
    [[nodiscard]] static TimePoint due_after_death(const JobState& job, TimePoint now) noexcept;
    /// Whether a job suspected of crashing its workers must wait, because another suspect is leased
    /// and a crash would end both. Considers all workers of the store, because they may share a
    /// process.
    [[nodiscard]] bool is_kept_apart(const JobState& job) const noexcept;
    /// Delays a READY job for which `is_kept_apart` is true, by at most a second.
    void put_off(JobState& job, TimePoint now);
    void drop_cancelled(JobState& job, TimePoint now);
    /// Makes a detached job BURIED. If there are too many BURIED jobs, removes the oldest. Returns
    /// how many dependents of removed jobs became BURIED.
    std::size_t bury(JobState& job, TimePoint now);

    /// The number of live workers by queue. The empty name counts workers without a profile.
    [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> workers_by_queue(
        TimePoint now) const;

    /// An error when a push may not wait for a job in its list.
    [[nodiscard]] Result<void> may_wait(const PushJob& step) const;
    /// Counts a job event for the throughput of the queue, if its jobs have ids.
    void note(const QueueState& queue, Throughput::Number number, TimePoint now) {
        if (queue.has_ids) throughput_.count(queue.name, number, now);
    }
    /// Counts a removed, unsuccessful job in its batch.
    void leave_batch(const JobState& job, JobFate fate);

    /// The ids in `jobs` that exist in the queue, each once.
    [[nodiscard]] static std::vector<JobId> present(const QueueState& queue,
                                                    std::vector<JobId> jobs);
    /// Makes a detached job wait for the existing jobs in `others`.
    static void wait_for(JobState& job, const std::vector<JobId>& others);
    /// Undoes `wait_for` for a job that is detached again.
    static void stop_waiting(JobState& job);
    /// Ends the waiting of all dependents of a completed job.
    void release_dependents(QueueState& queue, JobId done, TimePoint now);
    /// Makes the dependents of a removed job BURIED and returns their number.
    std::size_t bury_dependents(QueueState& queue, JobId gone, JobFate fate, TimePoint now);

    /// Releases a worker's jobs, oldest first, until the limit of `slice` is reached.
    static void release_all(Worker& worker, JobSlice& slice,
                            const std::function<void(JobState&)>& release);

    JobState& make(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group);
    void end(JobState& job);
    void destroy(JobState& job) noexcept;

    /// Removes the queue that became empty before `queue` did, unless it has jobs again, a pause or
    /// rate limits. The last empty queue stays in memory. Otherwise a queue with one job at a time
    /// would be created again for each job.
    void forget_before(QueueState& queue);

    /// Must be called after the table of paused queues was restored.
    void settle_paused();
    /// Must be called after the table of queues with rate limits was restored.
    void settle_limited();

    SequenceState& last_batch();

    static GroupedJob& grouped(JobState& job) noexcept { return static_cast<GroupedJob&>(job); }

    static constexpr Duration death_wait_first{1'000};
    static constexpr Duration death_wait_max{60'000};

    /// Used by a store without a journal, or with a journal from before `reserved_begun_` existed.
    static constexpr JobId all_begun = std::numeric_limits<JobId>::max();

    ChangeLog& changes_;
    CounterTable& counters_;
    SmallBlocks payloads_;
    std::map<std::string, QueueState, std::less<>> queues_;
    QueueState* found_last_ = nullptr;  ///< Consecutive steps mostly use the same queue.
    QueueState& deliveries_ = queue(delivery_queue);
    QueueState* emptied_ = nullptr;  ///< The last queue to become empty.
    WakeUps wake_ups_;
    JobPlaces places_{wake_ups_};
    OrderingGroups groups_{places_};
    Destinations destinations_{deliveries_, places_, wake_ups_};
    LeaseTable leases_{changes_};
    ServedQueues served_;
    JobKeys keys_{changes_, counters_};
    IdempotencyKeys idempotency_keys_{changes_, counters_};
    NamedTable<SequenceState> sequences_;
    NamedTable<PausedQueueState> paused_;
    NamedTable<LimitedQueueState> limited_;
    SequenceState& last_id_;
    SequenceState& reserved_fences_;
    /// An upper bound of the ids of all jobs that any process has begun.
    SequenceState& reserved_begun_;
    ThroughputTable throughput_;
    JobBatchTable batches_{changes_, counters_, last_batch()};
    Slab<JobState> states_;
    Slab<GroupedJob> grouped_;
    std::uint64_t order_ = 0;
    std::optional<TimePoint> scrubbed_at_;  ///< When the last search for dead workers ran.
    /// Restored jobs, by queue and id, whose last attempt a crash ended, or that have no attempts
    /// left. The next scrubs process and empty the list.
    std::vector<std::pair<std::string, JobId>> cut_off_;
    /// Jobs buried since the last scrub because their workers died.
    std::vector<BuriedJob> died_last_;
};

}  // namespace routemaster::detail
