/// @file
/// `JobTable`: the jobs of the state machine, and the changes of their states.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/containers/prefetch.hpp"
#include "core/containers/slab.hpp"
#include "core/containers/small_blocks.hpp"
#include "core/jobs/state/crash_recovery.hpp"
#include "core/jobs/state/destinations.hpp"
#include "core/jobs/state/idempotency_keys.hpp"
#include "core/jobs/state/job_batches.hpp"
#include "core/jobs/state/job_keys.hpp"
#include "core/jobs/state/job_places.hpp"
#include "core/jobs/state/job_removal.hpp"
#include "core/jobs/state/job_reports.hpp"
#include "core/jobs/state/job_state.hpp"
#include "core/jobs/state/leases.hpp"
#include "core/jobs/state/ordering_groups.hpp"
#include "core/jobs/state/queue_state.hpp"
#include "core/jobs/state/queue_table.hpp"
#include "core/jobs/state/reservations.hpp"
#include "core/jobs/state/throughput.hpp"
#include "core/jobs/state/worker_profiles.hpp"
#include "core/state/counters.hpp"
#include "core/state/entity.hpp"
#include "core/state/named.hpp"
#include "core/state/sequence.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/job.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

/// Table of all jobs. Changes the states of jobs, and owns the tables of their queues, leases, keys
/// and batches.
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

    void set_now(TimePoint now) noexcept { groups_.set_now(now); }

    // --- Tables of related state ----------------------------------------------------------------

    [[nodiscard]] QueueTable& queues() noexcept { return queues_; }
    [[nodiscard]] const JobReports& reports() const noexcept { return reports_; }
    [[nodiscard]] WorkerProfiles& profiles() noexcept { return profiles_; }
    [[nodiscard]] LeaseTable& leases() noexcept { return leases_; }
    [[nodiscard]] CrashRecovery& crashes() noexcept { return crashes_; }
    [[nodiscard]] Reservations& reservations() noexcept { return reservations_; }
    [[nodiscard]] ThroughputTable& throughput() noexcept { return throughput_; }
    [[nodiscard]] JobBatchTable& batches() noexcept { return batches_; }
    [[nodiscard]] IdempotencyKeys& idempotency_keys() noexcept { return idempotency_keys_; }
    /// Keys that still exclude jobs after their own job was completed.
    [[nodiscard]] KeptKeys& kept_keys() noexcept { return keys_.kept(); }
    /// Decides which workers may acquire a delivery job.
    [[nodiscard]] Destinations& destinations() noexcept { return destinations_; }
    [[nodiscard]] OrderingGroups& groups() noexcept { return groups_; }
    [[nodiscard]] WakeUps& wake_ups() noexcept { return wake_ups_; }
    [[nodiscard]] NamedTable<SequenceState>& sequences() noexcept { return sequences_; }

    // --- Finding jobs ---------------------------------------------------------------------------

    /// The job with this payload and without a key; null if missing.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job) const {
        return find(queue, job, payload_hash(job));
    }
    /// As above, with the hash of `job`. A caller that also pushes the job needs to compute the
    /// hash only once.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job,
                                 std::uint32_t hash) const;

    [[nodiscard]] static JobState* find(const QueueState& queue, std::uint32_t hash,
                                        std::uint64_t order) {
        return queue.jobs.find(hash, [order](const JobState& any) { return any.order == order; });
    }

    [[nodiscard]] JobState* leased(const Lease& lease) const {
        auto* job = leases_.find(lease);
        if (job != nullptr) fetch(*job);
        return job;
    }

    /// Reads the payload of a job from the journal if it was evicted from memory. Throws `Failure`
    /// when the payload cannot be read.
    void load(JobState& job) {
        if (!job.payload.resident()) changes_.load(job);
    }

    void each(const std::function<void(JobState&)>& visit);

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

    // --- Pushing --------------------------------------------------------------------------------

    /// The next push number, for a job without an id.
    std::uint64_t next_order() noexcept { return ++order_; }
    /// The next job id. It is also the push number of the job.
    std::uint64_t next_id();

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

    using Reveal = std::function<void(const Entity&)>;

    /// Adds a job with a key. If another job has the key, the push is a duplicate or replaces that
    /// job, as `step.on_duplicate` demands.
    Result<Pushed> push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal);
    /// Adds a job with a key. If another job has the key, that job loses the key.
    Pushed add_with_key(const PushJob& step, TimePoint now);

    /// The ordering group `name`, created if missing, in a queue whose jobs have ids. Null if the
    /// name is empty.
    [[nodiscard]] static OrderingGroup* group_of(QueueState& queue, const std::string& name);

    // --- Rescheduling ---------------------------------------------------------------------------

    /// Changes the due time of a job. The job must not be PENDING.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now);
    /// As `reschedule`, but a crash may lose the change.
    void put_off(JobState& job, TimePoint run_at, TimePoint now);
    void promote(QueueState& queue, TimePoint now);
    /// Makes BURIED jobs READY and returns their number. A step with a job id can also make a
    /// SCHEDULED job READY.
    std::uint64_t kick(QueueState& queue, const KickJobs& step, TimePoint now);

    // --- Attempts -------------------------------------------------------------------------------

    /// Counts an attempt of a detached job. To be called just before the job is leased.
    void begin_attempt(JobState& job);
    /// Ends a lease and counts the attempt. The job is due again at `run_at`. If this was the last
    /// attempt, the job becomes BURIED instead and the result is true.
    bool release(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends a lease without counting the attempt. The job is due again at `run_at`.
    void release_uncounted(JobState& job, TimePoint run_at, TimePoint now);
    /// As `release`, but adds no error to the job. The caller must have added the error of the
    /// attempt.
    bool end_attempt(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends an attempt that failed. Returns true when the job is now BURIED.
    bool fail(JobState& job, const FailJob& step, TimePoint now);

    /// Records a sign of life of a worker. Returns the fences of the worker's cancelled jobs.
    std::vector<std::uint64_t> heartbeat(const Uid& uid, TimePoint now);
    /// Releases a limited number of a worker's jobs, oldest first. Removes the worker after its
    /// last job.
    ReleasedJobs retire(const Uid& uid, TimePoint now);

    // --- Ending jobs ----------------------------------------------------------------------------

    /// Removes a job in any state. The job must have no dependents.
    void remove(JobState& job);
    void complete(JobState& job, TimePoint now);
    /// Removes a job that did not succeed. Its dependents become BURIED with an error that names
    /// `removal`. Returns the number of these dependents, at most `job_dependents_max`.
    std::size_t drop(JobState& job, JobRemoval removal, TimePoint now);
    /// Removes a job. A PENDING job is only marked as cancelled, to make its worker stop the
    /// attempt.
    Cancellation cancel(JobState& job, TimePoint now);
    /// Makes a detached job BURIED. If there are too many BURIED jobs, removes the oldest. Returns
    /// how many dependents of removed jobs became BURIED.
    std::size_t bury(JobState& job, TimePoint now);
    /// Ends the batches that the current step completed. To be called at the end of each step.
    void settle_batches(TimePoint now);

    /// Counts a job event for the throughput of the queue, if its jobs have ids.
    void note(const QueueState& queue, Throughput::Number number, TimePoint now) {
        if (queue.has_ids) throughput_.count(queue.name, number, now);
    }
    /// Names of the queues whose watching workers must be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken();

    // --- Restoring ------------------------------------------------------------------------------

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

    /// Makes a restored job PENDING again under its former lease. Does nothing when the job no
    /// longer exists. Throws `Failure` when its payload cannot be read.
    void reinstate(const Lease& lease, TimePoint seen);

private:
    JobState& make(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group);
    /// Destroys a detached job. If its queue or ordering group is then empty, removes the queue or
    /// the group.
    void end(JobState& job);
    void destroy(JobState& job) noexcept;

    void place(JobState& job, TimePoint now);
    /// Makes deliveries READY if their delay exceeds the longest allowed delay. Their due time was
    /// set while the clock was ahead.
    void hasten(QueueState& queue, TimePoint now);
    /// Begins an acquisition from a queue with rate limits. Jobs that former limits throttled
    /// become READY again, at most `promoted_max`.
    void begin_limited(QueueState& queue, TimePoint now);
    /// Appends a due job to its ordering group. False if the job has no group or was already in it.
    bool enter_group(JobState& job);
    void skip(JobState& job);

    void replace(JobState& job, const PushJob& step, TimePoint now);
    /// Replaces a detached job by a new job in the ordering group of `step`, because a job cannot
    /// change its group. The new job does not have the key yet.
    JobState& regroup(JobState& job, const PushJob& step);

    [[nodiscard]] static bool is_last_attempt(JobState& job);
    /// Ends the lease of a job and makes the job SCHEDULED or READY. The number of attempts must
    /// already be correct.
    void put_back(JobState& job, TimePoint run_at, TimePoint now);

    /// Removes a job in any state. Unlike `remove`, does not record the removal in the job's group.
    void take_away(JobState& job);
    void drop_cancelled(JobState& job, TimePoint now);
    void leave_batch(const JobState& job, JobRemoval removal);
    void release_dependents(QueueState& queue, JobId done, TimePoint now);
    std::size_t bury_dependents(QueueState& queue, JobId gone, JobRemoval removal, TimePoint now);

    /// The record of the last assigned id of a kind, for example `jobs` or `fences`. Created if
    /// missing.
    SequenceState& sequence(const char* name);

    static GroupedJob& grouped(JobState& job) noexcept { return static_cast<GroupedJob&>(job); }

    ChangeLog& changes_;
    CounterTable& counters_;
    SmallBlocks payloads_;
    WakeUps wake_ups_;
    QueueTable queues_{changes_, payloads_, wake_ups_};
    JobPlaces places_{wake_ups_};
    OrderingGroups groups_{places_};
    Destinations destinations_{queues_.deliveries(), places_, wake_ups_};
    LeaseTable leases_{changes_};
    WorkerProfiles profiles_{leases_};
    JobReports reports_{changes_, profiles_};
    JobKeys keys_{changes_, counters_};
    IdempotencyKeys idempotency_keys_{changes_, counters_};
    NamedTable<SequenceState> sequences_;
    SequenceState& last_id_;
    Reservations reservations_;
    ThroughputTable throughput_;
    JobBatchTable batches_;
    CrashRecovery crashes_;
    Slab<JobState> states_;
    Slab<GroupedJob> grouped_;
    std::uint64_t order_ = 0;
};

}  // namespace routemaster::detail
