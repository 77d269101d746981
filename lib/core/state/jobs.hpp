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
#include "core/state/counters.hpp"
#include "core/state/destinations.hpp"
#include "core/state/entity.hpp"
#include "core/state/idempotency_keys.hpp"
#include "core/state/job_batches.hpp"
#include "core/state/job_keys.hpp"
#include "core/state/job_places.hpp"
#include "core/state/job_state.hpp"
#include "core/state/leases.hpp"
#include "core/state/limited_queue.hpp"
#include "core/state/named.hpp"
#include "core/state/ordering_groups.hpp"
#include "core/state/paused_queue.hpp"
#include "core/state/queue_state.hpp"
#include "core/state/sequence.hpp"
#include "core/state/served_queues.hpp"
#include "core/state/throughput.hpp"
#include "core/state/wake_ups.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_explanation.hpp"
#include "routemaster/job_status.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

class JobSlice;

/// Why a job left its queue without success.
enum class JobFate : std::uint8_t { deleted, cancelled, expired, forgotten };

/// The text for the errors of its dependents, for example "was deleted".
[[nodiscard]] std::string_view text_of(JobFate fate) noexcept;

/// All queues and their jobs.
///
/// A *detached* job stands in the index of its queue, but in no schedule or list and under no
/// lease. A *dependent* is a job waiting for another job.
///
/// Not thread safe.
class JobTable {
public:
    /// Both must outlive the table.
    JobTable(ChangeLog& changes, CounterTable& counters);
    JobTable(const JobTable&) = delete;
    JobTable& operator=(const JobTable&) = delete;
    ~JobTable();

    /// Sets the time of the following calls.
    void set_now(TimePoint now) noexcept { groups_.set_now(now); }

    /// The next number in the order of pushes, for a job without an id.
    std::uint64_t next_order() noexcept { return ++order_; }
    /// The next job id, also a number in the order of pushes.
    std::uint64_t next_id();

    /// The queue of this name. Creates a missing queue: the caller must then push a job, as queues
    /// without jobs are forgotten.
    QueueState& queue(const std::string& name);

    /// The queue of this name; null without jobs.
    [[nodiscard]] QueueState* find_queue(const std::string& name) {
        if (found_last_ != nullptr && found_last_->name == name) return found_last_;
        const auto found = queues_.find(name);
        if (found == queues_.end()) return nullptr;
        return found_last_ = &found->second;
    }

    /// The queue of delivery jobs, which always exists.
    [[nodiscard]] QueueState& deliveries() noexcept { return deliveries_; }

    /// Number of queues in memory: queues with jobs, a pause or rate limits, the delivery queue,
    /// and at most one queue that has become empty.
    [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }
    /// Number of queues with jobs, a pause or rate limits, without the delivery queue.
    [[nodiscard]] std::size_t lasting_queues() const noexcept {
        const bool over = emptied_ != nullptr && emptied_->jobs.empty() && !emptied_->kept();
        return queues_.size() - (over ? 2 : 1);
    }

    /// The job with this payload and without a key; null if there is none.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job) const {
        return find(queue, job, payload_hash(job));
    }
    /// `hash` must be the hash of `job`. A caller that also pushes the job computes the hash only
    /// once.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job,
                                 std::uint32_t hash) const;

    /// The job with this number and payload hash.
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

    /// Starts to load into the cache the data needed to end a job, beside the job itself.
    static void fetch(const JobState& job) noexcept {
        job.queue.jobs.fetch(job.payload.hash());
        prefetch(job.group());
    }
    /// Starts to load into the cache the data needed to push a job with this hash.
    static void fetch(const QueueState& queue, std::uint32_t hash,
                      const std::string& group) noexcept {
        queue.jobs.fetch(hash);
        if (!group.empty()) queue.groups.fetch(group);
    }

    /// Call this before the steps are performed. Starts to load the index entries of the jobs of
    /// the first `prefetched_max` steps into the cache. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// Adds a job. The caller has found no equal job.
    JobState& push(QueueState& queue, std::string_view job, TimePoint run_at, std::uint64_t order,
                   OrderingGroup* group, TimePoint now) {
        return push(queue, job, payload_hash(job), run_at, order, group, now);
    }
    JobState& push(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group, TimePoint now);

    /// Adds a job with options to a queue whose jobs have ids. The caller has checked `may_push`.
    JobState& push(QueueState& queue, const PushJob& step, std::uint32_t hash, TimePoint now);

    /// An error when a push may not wait for its jobs or not join its batch.
    [[nodiscard]] Result<void> may_push(const PushJob& step) const;

    /// Called with each entity described in a reply.
    using Reveal = std::function<void(const Entity&)>;

    /// Adds a job with a key. When another job has the key, the push is a duplicate or replaces the
    /// other job, as `step.on_duplicate` says.
    Result<Pushed> push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal);
    /// Adds a job with a key and takes the key from its present owner.
    Pushed add_with_key(const PushJob& step, TimePoint now);

    /// Moves a job to another instant. The job must not be PENDING.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now);

    /// Ends a job in any state. The job must have no dependents.
    void remove(JobState& job);
    /// Ends a job after its success and releases its dependents.
    void complete(JobState& job, TimePoint now);
    /// Ends a job without success. Its dependents become BURIED with an error naming `fate`.
    /// Returns their number, at most `job_dependents_max`.
    std::size_t drop(JobState& job, JobFate fate, TimePoint now);

    /// Ends a lease and counts the attempt. The job runs again at `run_at`. Returns true when this
    /// was the last attempt and the job is BURIED instead.
    bool release(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends a lease without counting the attempt. The job runs again at `run_at`.
    void release_uncounted(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends an attempt after a failure. Returns true when the job is now BURIED.
    bool fail(JobState& job, const FailJob& step, TimePoint now);

    /// Ends a job, or marks a PENDING job as cancelled to make its worker stop.
    Cancellation cancel(JobState& job, TimePoint now);

    /// Stops acquisitions from a queue.
    void pause(const std::string& name);
    void resume(const std::string& name);

    /// Sets or removes the rate limits of a queue.
    void limit(const std::string& name, const RateLimits& limits);

    /// Makes BURIED jobs READY and returns their number. A step with an id can also make a
    /// SCHEDULED job READY.
    std::uint64_t kick(QueueState& queue, const KickJobs& step, TimePoint now);

    /// The ordering group named by a push, in a queue whose jobs have ids; null without a name.
    [[nodiscard]] static OrderingGroup* group_of(QueueState& queue, const std::string& name);

    /// Throws `Failure` when the job cannot be read.
    [[nodiscard]] JobStatus status(const JobState& job, TimePoint now) const;
    /// Throws `Failure` when the job cannot be read.
    [[nodiscard]] JobExplanation explain(const JobState& job, TimePoint now) const;
    /// Throws `Failure` when a job cannot be read.
    [[nodiscard]] JobPage list(const QueueState& queue, const ListJobs& step, TimePoint now) const;

    /// Throws `Failure` when the first job cannot be read; nothing was acquired then.
    Acquired acquire(
        QueueState& queue, const AcquireJobs& step, TimePoint now,
        const std::function<void(const JobState&)>& reveal = [](const JobState&) {});

    /// Returns the fences of the worker's cancelled jobs.
    std::vector<std::uint64_t> heartbeat(const Uid& uid, TimePoint now);
    void note_profile(const Heartbeat& heartbeat, TimePoint now);

    /// Releases jobs of a worker, oldest first. Forgets the worker after its last job.
    ReleasedJobs retire(const Uid& uid, TimePoint now);

    /// Releases the jobs of all workers silent for `silence` or longer, and forgets these workers.
    /// After a long time without scrubs, silent workers get one grace period (`ScrubWorkers`).
    ReleasedJobs scrub(Duration silence, TimePoint now);

    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now);

    /// The queues with jobs, a pause or rate limits, by name.
    [[nodiscard]] std::vector<ListedQueue> list_queues(const Page& page, TimePoint now) const;

    /// The live workers of a queue, and how many of them have a handler of this name.
    [[nodiscard]] QueueWorkers workers_of(std::string_view queue, std::string_view handler,
                                          TimePoint now) const;
    [[nodiscard]] std::vector<ListedWorker> list_workers(const Page& page) const;

    [[nodiscard]] const ThroughputTable& throughput() const noexcept { return throughput_; }

    // --- Batches of jobs ------------------------------------------------------------------------

    [[nodiscard]] JobBatchTable& batches() noexcept { return batches_; }
    /// Ends the batches completed by this step. Called at the end of each step.
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

    /// Names of queues with watchers to wake, each once.
    [[nodiscard]] std::vector<std::string> take_woken();
    /// Adds `recurring_watch` to these names.
    void wake_schedulers() { wake_ups_.wake_schedulers(); }
    /// For watches on anything but queues.
    [[nodiscard]] WakeUps& wake_ups() noexcept { return wake_ups_; }

    // --- Restoring ------------------------------------------------------------------------------

    /// The last ids by kind.
    [[nodiscard]] NamedTable<SequenceState>& sequences() noexcept { return sequences_; }
    /// Keys of completed jobs.
    [[nodiscard]] KeptKeys& kept_keys() noexcept { return keys_.kept(); }
    /// Keys of pushes.
    [[nodiscard]] IdempotencyKeys& idempotency_keys() noexcept { return idempotency_keys_; }
    [[nodiscard]] NamedTable<PausedQueueState>& paused() noexcept { return paused_; }
    [[nodiscard]] NamedTable<LimitedQueueState>& limited() noexcept { return limited_; }

    /// Adds a restored job to the index and to `ready`, in the order of the journal.
    /// `settle_restored` finds its final place.
    JobState& restore(QueueState& queue, std::string_view job, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group) {
        return restore(queue, job, payload_hash(job), run_at, order, group);
    }
    JobState& restore(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group);

    /// Removes a restored job before `settle_restored`.
    void unrestore(JobState& job);

    /// Makes every restored job SCHEDULED, BURIED or waiting, in the order of pushes. The next
    /// acquisition promotes due jobs in the order of their due times.
    void settle_restored();

    /// Calls `visit` with each job, queue by queue, in the order of pushes.
    void each(const std::function<void(JobState&)>& visit);

    /// All leases, for `reinstate`.
    [[nodiscard]] std::vector<Lease> leases() const { return leases_.all(); }
    /// The lease of a PENDING job.
    [[nodiscard]] static Lease lease_of(const JobState& job) { return LeaseTable::lease_of(job); }
    /// Its number bounds the fences that may be assigned, once the record is on disk.
    [[nodiscard]] const SequenceState& reserved_fences() const noexcept { return reserved_fences_; }
    /// Its number bounds the ids of jobs that may begin, once the record is on disk.
    [[nodiscard]] const SequenceState& reserved_begun() const noexcept { return reserved_begun_; }
    [[nodiscard]] std::uint64_t fence() const noexcept { return leases_.fence(); }
    /// Assigns only fences greater than `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { leases_.skip_fences(fence); }

    /// Makes a restored job PENDING again under its former lease. Does nothing when the job is
    /// gone. Throws `Failure` when its payload cannot be read.
    void reinstate(const Lease& lease, TimePoint seen);

private:
    /// Makes a detached job SCHEDULED or READY.
    void place(JobState& job, TimePoint now);
    /// Makes deliveries READY that wait longer than the longest allowed delay: the clock was ahead
    /// when their time was set.
    void hasten(QueueState& queue, TimePoint now);
    /// Makes due jobs READY, at most `JobPlaces::promoted_max`.
    void promote(QueueState& queue, TimePoint now);
    /// Begins an acquisition from a queue with rate limits. Makes jobs throttled by former limits
    /// READY again, at most `promoted_max`.
    void begin_limited(QueueState& queue, TimePoint now);
    /// Adds the jobs ahead of a job in its group to its explanation.
    static void name_those_before(const JobState& job, JobExplanation& all);
    /// Puts a due job into its ordering group. False for a job without a group or already in the
    /// group.
    bool enter_group(JobState& job);
    /// Takes a detached, unsuccessful job out of its ordering group, if any.
    void skip(JobState& job);

    /// Replaces the content of a waiting job with the content of another push.
    void replace(JobState& job, const PushJob& step, TimePoint now);
    /// Replaces a detached job by a job in the ordering group of `step`, and ends the old job. The
    /// new job does not have the key yet.
    JobState& regroup(JobState& job, const PushJob& step);
    /// Ends a job in any state. Records no skip in its group, unlike `remove`.
    void take_away(JobState& job);
    void begin_attempt(JobState& job);
    /// Whether the current attempt counts and is the last.
    [[nodiscard]] static bool is_last_attempt(JobState& job);
    /// Ends a lease and counts the attempt. Its error must have been added before. The job runs
    /// again at `run_at`; true when it is BURIED instead.
    bool end_attempt(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends the lease of a job and places the job again. The number of attempts must be right
    /// already.
    void put_back(JobState& job, TimePoint run_at, TimePoint now);
    /// After a gap without scrubs, silent workers get one grace period.
    void spare_silent(Duration silence, TimePoint now);
    /// Raises the reservation after fences beyond the old bound were assigned.
    void reserve_fences();
    /// Raises the reservation when a job beyond the old bound begins.
    void reserve_begun(JobId id);
    /// Whether a READY job must end instead of being acquired.
    [[nodiscard]] static bool is_unfit(const JobState& job, TimePoint now) noexcept;
    /// Ends an unfit job (`is_unfit`). Returns the number of jobs ended or BURIED.
    std::size_t end_unfit(JobState& job, TimePoint now);
    /// Whether no attempts are left.
    [[nodiscard]] static bool is_used_up(const JobState& job) noexcept {
        return job.details != nullptr && !job.details->has_attempts_left();
    }
    /// The job with this id if the job is due and either its attempts are used up, or its last
    /// attempt was cut off without a record of the error; else null.
    JobState* due_and_cut_off(const std::string& name, JobId id, TimePoint now);
    /// Handles due restored jobs whose last attempt died with its process: stores the error, and
    /// buries jobs without further attempts. Handles one chunk per call.
    void settle_cut_off(TimePoint now);
    /// Stores the error of an attempt after the death of its process. True when the job must wait
    /// now.
    bool note_death(JobState& job, TimePoint now);
    /// When a job runs again after its attempt died with its worker: at once at first. From
    /// `isolated_deaths` deaths on there is a delay, which doubles with each death.
    [[nodiscard]] static TimePoint due_after_death(const JobState& job, TimePoint now) noexcept;
    /// Whether a job suspected of crashing its workers must wait, because another suspect is leased
    /// and would die, too. Looks at all workers of the store, as they may share a process.
    [[nodiscard]] bool is_kept_apart(const JobState& job) const noexcept;
    /// Delays a READY job for which `is_kept_apart` is true, by at most a second.
    void put_off(JobState& job, TimePoint now);
    /// Ends a cancelled job in any state.
    void drop_cancelled(JobState& job, TimePoint now);
    /// Makes a detached job BURIED. Drops the oldest BURIED jobs if there are too many. Returns how
    /// many dependents of dropped jobs became BURIED in turn.
    std::size_t bury(JobState& job, TimePoint now);

    /// The number of live workers by queue; under the empty name, workers without a profile.
    [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> workers_by_queue(
        TimePoint now) const;

    /// An error when a push may not wait for its jobs.
    [[nodiscard]] Result<void> may_wait(const PushJob& step) const;
    /// Counts an event of a job for the throughput, if the jobs of the queue have ids.
    void note(const QueueState& queue, Throughput::Number number, TimePoint now) {
        if (queue.has_ids) throughput_.count(queue.name, number, now);
    }
    /// Counts the end of an unsuccessful job in its batch.
    void leave_batch(const JobState& job, JobFate fate);

    /// The existing jobs among `jobs`, each once.
    [[nodiscard]] static std::vector<JobId> present(const QueueState& queue,
                                                    std::vector<JobId> jobs);
    /// Makes a detached job wait for the existing jobs among `others`.
    static void wait_for(JobState& job, const std::vector<JobId>& others);
    /// Undoes `wait_for` for a job that is detached again.
    static void stop_waiting(JobState& job);
    /// Ends the wait of all dependents of a successful job.
    void release_dependents(QueueState& queue, JobId done, TimePoint now);
    /// Makes the dependents of a removed job BURIED and returns their number.
    std::size_t bury_dependents(QueueState& queue, JobId gone, JobFate fate, TimePoint now);

    /// Ends the leases of a worker, oldest first, as far as the chunk allows.
    static void release_all(Worker& worker, JobSlice& slice,
                            const std::function<void(JobState&)>& release);

    /// Makes a detached job.
    JobState& make(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group);
    /// Undoes `make`.
    void end(JobState& job);
    void destroy(JobState& job) noexcept;

    /// Forgets the previous empty queue, unless that queue has jobs again or is kept. The last
    /// empty queue stays in memory: otherwise a queue with one job at a time would be created again
    /// for each job.
    void forget_before(QueueState& queue);

    /// To be called when the table of paused queues is restored.
    void settle_paused();
    /// To be called when the table of queues with rate limits is restored.
    void settle_limited();

    /// The last id of a batch.
    SequenceState& last_batch();

    static GroupedJob& grouped(JobState& job) noexcept { return static_cast<GroupedJob&>(job); }

    static constexpr Duration death_wait_first{1'000};
    static constexpr Duration death_wait_max{60'000};

    /// For a store without a journal, or with a journal older than `reserved_begun_`.
    static constexpr JobId all_begun = std::numeric_limits<JobId>::max();

    ChangeLog& changes_;
    CounterTable& counters_;
    SmallBlocks payloads_;
    std::map<std::string, QueueState, std::less<>> queues_;
    QueueState* found_last_ = nullptr;  ///< Consecutive steps mostly name the same queue.
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
    /// No process began a job with a greater id.
    SequenceState& reserved_begun_;
    ThroughputTable throughput_;
    JobBatchTable batches_{changes_, counters_, last_batch()};
    Slab<JobState> states_;
    Slab<GroupedJob> grouped_;
    std::uint64_t order_ = 0;
    std::optional<TimePoint> scrubbed_at_;  ///< When dead workers were last searched for.
    /// Restored jobs, by queue and id, with a cut-off last attempt or without attempts left. The
    /// next scrubs empty the list.
    std::vector<std::pair<std::string, JobId>> cut_off_;
    /// Jobs buried after the death of a worker, since the last scrub.
    std::vector<BuriedJob> died_last_;
};

}  // namespace routemaster::detail
