/// @file
/// The job queues of the state machine: unique jobs, and what becomes of them.

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

/// Why a job goes that was not done.
enum class JobFate : std::uint8_t { deleted, cancelled, expired, forgotten };

/// What became of a job, for the errors of those that wait for it: "was deleted".
[[nodiscard]] std::string_view text_of(JobFate fate) noexcept;

/// All queues and their jobs.
///
/// Not thread safe.
class JobTable {
public:
    /// Both must outlive it.
    JobTable(ChangeLog& changes, CounterTable& counters);
    JobTable(const JobTable&) = delete;
    JobTable& operator=(const JobTable&) = delete;
    ~JobTable();

    /// When what follows happens.
    void set_now(TimePoint now) noexcept { groups_.set_now(now); }

    /// The next number in the order of pushes, for a job without an id.
    std::uint64_t next_order() noexcept { return ++order_; }
    /// The next id, which is a number in the order of pushes as well.
    std::uint64_t next_id();

    /// The queue of that name, which begins here when it has no jobs yet. What is done to it next
    /// gives it one: a queue without jobs is forgotten.
    QueueState& queue(const std::string& name);

    /// The queue of that name; null when it has no jobs.
    [[nodiscard]] QueueState* find_queue(const std::string& name) {
        if (found_last_ != nullptr && found_last_->name == name) return found_last_;
        const auto found = queues_.find(name);
        if (found == queues_.end()) return nullptr;
        return found_last_ = &found->second;
    }

    /// The queue of delivery jobs, which is always there.
    [[nodiscard]] QueueState& deliveries() noexcept { return deliveries_; }

    /// Queues that take memory: those that have jobs, are paused or have rate limits, that of
    /// deliveries, and at most one more.
    [[nodiscard]] std::size_t queues() const noexcept { return queues_.size(); }
    /// Queues that have jobs, are paused or have rate limits, without the delivery queue.
    [[nodiscard]] std::size_t lasting_queues() const noexcept {
        const bool over = emptied_ != nullptr && emptied_->jobs.empty() && !emptied_->kept();
        return queues_.size() - (over ? 2 : 1);
    }

    /// The job of these bytes that has no key; null when there is none.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job) const {
        return find(queue, job, payload_hash(job));
    }
    /// `hash` is that of the job: who finds none and pushes it needs it again.
    [[nodiscard]] JobState* find(const QueueState& queue, std::string_view job,
                                 std::uint32_t hash) const;

    /// The job that was pushed with this number, whose hash is `hash`.
    [[nodiscard]] static JobState* find(const QueueState& queue, std::uint32_t hash,
                                        std::uint64_t order) {
        return queue.jobs.find(hash, [order](const JobState& any) { return any.order == order; });
    }

    /// The job that a lease gives the right to; null when the lease is lost.
    [[nodiscard]] JobState* leased(const Lease& lease) const {
        auto* job = leases_.find(lease);
        if (job != nullptr) fetch(*job);
        return job;
    }

    /// Starts to load what the end of a job looks at, beside itself, into the cache.
    static void fetch(const JobState& job) noexcept {
        job.queue.jobs.fetch(job.payload.hash());
        prefetch(job.group());
    }
    /// Starts to load what the push of a job with that hash looks at.
    static void fetch(const QueueState& queue, std::uint32_t hash,
                      const std::string& group) noexcept {
        queue.jobs.fetch(hash);
        if (!group.empty()) queue.groups.fetch(group);
    }

    /// The first `prefetched_max` of these steps are about to be performed: starts to load the
    /// places of their jobs in the index into the cache, all at once. Changes nothing.
    void fetch_ahead(std::span<const Step> steps) const noexcept;

    /// Adds a job that is known not to exist yet.
    JobState& push(QueueState& queue, std::string_view job, TimePoint run_at, std::uint64_t order,
                   OrderingGroup* group, TimePoint now) {
        return push(queue, job, payload_hash(job), run_at, order, group, now);
    }
    JobState& push(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group, TimePoint now);

    /// The same with options, in a queue whose jobs have ids. It `may_push`.
    JobState& push(QueueState& queue, const PushJob& step, std::uint32_t hash, TimePoint now);

    /// Why a push may not wait for the jobs that it names, or not join its batch, if so.
    [[nodiscard]] Result<void> may_push(const PushJob& step) const;

    /// Is called with each entity that a reply tells anything of.
    using Reveal = std::function<void(const Entity&)>;

    /// Adds a job with a key, unless another excludes it; then the other may be replaced.
    Result<Pushed> push_with_key(const PushJob& step, TimePoint now, const Reveal& reveal);
    /// The same whatever has its key, which it takes.
    Pushed add_with_key(const PushJob& step, TimePoint now);

    /// Moves a job that is not PENDING to another instant.
    void reschedule(JobState& job, TimePoint run_at, TimePoint now);

    /// Ends a job that none waits for, whatever its state.
    void remove(JobState& job);
    /// The same of one that was done: those that wait for it wait for it no more.
    void complete(JobState& job, TimePoint now);
    /// The same of one that was not done. What waits for it is BURIED, with an error that says what
    /// became of it; returns how many those are, at most `job_dependents_max`.
    std::size_t drop(JobState& job, JobFate fate, TimePoint now);

    /// Ends the lease of a job, whose attempt counts. It is to run again at `run_at`; true when it
    /// is BURIED now instead, as that was its last attempt.
    bool release(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends the lease of a job, which is to run again at `run_at`; the attempt does not count.
    void release_uncounted(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends an attempt that failed; true when the job is BURIED now.
    bool fail(JobState& job, const FailJob& step, TimePoint now);

    /// Ends a job, or lets its worker know that it is to stop.
    Cancellation cancel(JobState& job, TimePoint now);

    /// Lets nobody acquire anything from a queue.
    void pause(const std::string& name);
    /// Undoes `pause`.
    void resume(const std::string& name);

    /// Gives a queue other rate limits, or takes those that it has.
    void limit(const std::string& name, const RateLimits& limits);

    /// Makes BURIED jobs READY, and returns how many.
    std::uint64_t kick(QueueState& queue, const KickJobs& step, TimePoint now);

    /// The ordering group that a push asks for, in a queue whose jobs have ids; null for none.
    [[nodiscard]] static OrderingGroup* group_of(QueueState& queue, const std::string& name);

    /// Throws `Failure` when a job cannot be read.
    [[nodiscard]] JobStatus status(const JobState& job, TimePoint now) const;
    /// The same.
    [[nodiscard]] JobExplanation explain(const JobState& job, TimePoint now) const;
    /// The same.
    [[nodiscard]] JobPage list(const QueueState& queue, const ListJobs& step, TimePoint now) const;

    /// Throws `Failure` when there is a job, and it cannot be read: nothing was acquired then.
    Acquired acquire(
        QueueState& queue, const AcquireJobs& step, TimePoint now,
        const std::function<void(const JobState&)>& reveal = [](const JobState&) {});

    /// Returns the fences of the worker's jobs that were cancelled.
    std::vector<std::uint64_t> heartbeat(const Uid& uid, TimePoint now);
    /// Keeps what a worker says about itself.
    void note_profile(const Heartbeat& heartbeat, TimePoint now);

    /// Releases the jobs of a worker, oldest first, and forgets it once those were all.
    ReleasedJobs retire(const Uid& uid, TimePoint now);

    /// Releases the jobs of all workers that were silent for so long, and forgets them. As
    /// `ScrubWorkers` says, after a long time without it they are spared at first.
    ReleasedJobs scrub(Duration silence, TimePoint now);

    [[nodiscard]] static QueueStatus count(const QueueState& queue, TimePoint now);

    /// The queues that have jobs, are paused or have rate limits, by name.
    [[nodiscard]] std::vector<ListedQueue> list_queues(const Page& page, TimePoint now) const;

    /// The live workers of a queue, and how many have a handler of that name.
    [[nodiscard]] QueueWorkers workers_of(std::string_view queue, std::string_view handler,
                                          TimePoint now) const;
    /// Who was heard of, and what they have leased.
    [[nodiscard]] std::vector<ListedWorker> list_workers(const Page& page) const;

    /// What became of jobs over time.
    [[nodiscard]] const ThroughputTable& throughput() const noexcept { return throughput_; }

    // --- Batches of jobs ------------------------------------------------------------------------

    [[nodiscard]] JobBatchTable& batches() noexcept { return batches_; }
    /// At the end of each step: ends the batches that it has brought to their end.
    void settle_batches(TimePoint now);

    // --- Who may acquire what: see `Destinations` and `OrderingGroups` --------------------------

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

    /// Names of the queues whose watchers are to be woken, each once.
    [[nodiscard]] std::vector<std::string> take_woken();
    /// Has `recurring_watch` among them.
    void wake_schedulers() { wake_ups_.wake_schedulers(); }
    /// For watches that are no queues.
    [[nodiscard]] WakeUps& wake_ups() noexcept { return wake_ups_; }

    // --- Restoring ------------------------------------------------------------------------------

    /// The last id that was given.
    [[nodiscard]] NamedTable<SequenceState>& sequences() noexcept { return sequences_; }
    /// Keys of jobs that are done.
    [[nodiscard]] KeptKeys& kept_keys() noexcept { return keys_.kept(); }
    /// Keys of pushes.
    [[nodiscard]] IdempotencyKeys& idempotency_keys() noexcept { return idempotency_keys_; }
    /// Queues that are paused.
    [[nodiscard]] NamedTable<PausedQueueState>& paused() noexcept { return paused_; }
    /// Queues that have rate limits.
    [[nodiscard]] NamedTable<LimitedQueueState>& limited() noexcept { return limited_; }

    /// Puts a job into the index alone; `settle_restored` finds its place. Until then it stands in
    /// `ready`, in the order of the journal, which is about the order of all places.
    JobState& restore(QueueState& queue, std::string_view job, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group) {
        return restore(queue, job, payload_hash(job), run_at, order, group);
    }
    JobState& restore(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                      std::uint64_t order, OrderingGroup* group);

    /// Takes a job out that has only been restored.
    void unrestore(JobState& job);

    /// Gives every restored job its place, in the order of pushes, as SCHEDULED: what is due is
    /// promoted by the next acquisition, in the order it fell due.
    void settle_restored();

    /// Calls `visit` with each job, queue by queue, in the order they were pushed.
    void each(const std::function<void(JobState&)>& visit);

    /// All leases, for `reinstate`.
    [[nodiscard]] std::vector<Lease> leases() const { return leases_.all(); }
    /// The lease of a job that is PENDING.
    [[nodiscard]] static Lease lease_of(const JobState& job) { return LeaseTable::lease_of(job); }
    /// Fences up to some number, which may be assigned once that is on disk.
    [[nodiscard]] const SequenceState& reserved_fences() const noexcept { return reserved_fences_; }
    /// Jobs up to some id, which may be begun once that is on disk.
    [[nodiscard]] const SequenceState& reserved_begun() const noexcept { return reserved_begun_; }
    /// The last fence that was assigned.
    [[nodiscard]] std::uint64_t fence() const noexcept { return leases_.fence(); }
    /// Assigns only fences after `fence` from now on.
    void skip_fences(std::uint64_t fence) noexcept { leases_.skip_fences(fence); }

    /// Makes a restored job PENDING again under a lease that it had before. Nothing happens when
    /// the job is gone. Throws `Failure` when its payload cannot be read.
    void reinstate(const Lease& lease, TimePoint seen);

private:
    /// Makes a job that is nowhere SCHEDULED or READY.
    void place(JobState& job, TimePoint now);
    /// Makes deliveries READY that wait for longer than any may: a clock that ran ahead put them
    /// off.
    void hasten(QueueState& queue, TimePoint now);
    /// Makes READY what is due, at most `JobPlaces::promoted_max` jobs.
    void promote(QueueState& queue, TimePoint now);
    /// An acquisition from a queue with rate limits begins. Makes READY again what was throttled
    /// by other limits, at most `promoted_max` jobs.
    void begin_limited(QueueState& queue, TimePoint now);
    /// Says which jobs of its group keep one waiting.
    static void name_those_before(const JobState& job, JobExplanation& all);
    /// Puts a job that is due into its ordering group. False when it has none, or is in it.
    bool enter_group(JobState& job);
    /// Takes a job that is nowhere, and was not done, out of its ordering group, if it has one.
    void skip(JobState& job);

    /// Gives a job that waits what another push brings.
    void replace(JobState& job, const PushJob& step, TimePoint now);
    /// A job that is nowhere, in another ordering group, without its key; the old one is gone.
    JobState& regroup(JobState& job, const PushJob& step);
    /// Ends a job, whatever its state, that is no more in the way of others.
    void take_away(JobState& job);
    /// Counts an attempt.
    void begin_attempt(JobState& job);
    /// Whether the attempt under way is the last, and counts.
    [[nodiscard]] static bool is_last_attempt(JobState& job);
    /// Ends a lease, whose attempt counts and whose errors are as they are to be. The job runs
    /// again at `run_at`; true when it is BURIED now instead.
    bool end_attempt(JobState& job, TimePoint run_at, TimePoint now);
    /// Ends the lease of a job, whose attempts are as they are to be.
    void put_back(JobState& job, TimePoint run_at, TimePoint now);
    /// Who was silent for as long as nobody looked counts as heard of now, but not twice.
    void spare_silent(Duration silence, TimePoint now);
    /// Fences were assigned, perhaps beyond those that were reserved.
    void reserve_fences();
    /// A job was begun beyond those that were reserved.
    void reserve_begun(JobId id);
    /// Whether a READY job must end instead of being acquired.
    [[nodiscard]] static bool is_unfit(const JobState& job, TimePoint now) noexcept;
    /// Ends such a job. Returns 1 and how many others are BURIED for that.
    std::size_t end_unfit(JobState& job, TimePoint now);
    /// Whether no attempts are left.
    [[nodiscard]] static bool is_used_up(const JobState& job) noexcept {
        return job.details != nullptr && !job.details->has_attempts_left();
    }
    /// The job of that id, if it is due, and its attempts are used up, or its last one was cut off
    /// and is not among its errors; else null.
    JobState* due_and_cut_off(const std::string& name, JobId id, TimePoint now);
    /// Notes the deaths of restored jobs that are due, and whose last attempt ended with its
    /// process, and ends those that have no attempts left: a slice.
    void settle_cut_off(TimePoint now);
    /// Keeps the error of an attempt that ended with its process. True when the job waits now.
    bool note_death(JobState& job, TimePoint now);
    /// When a job runs again whose last attempt ended with its worker: at once, but from
    /// `isolated_deaths` such ends on after a wait, which doubles each time.
    [[nodiscard]] static TimePoint due_after_death(const JobState& job, TimePoint now) noexcept;
    /// Whether nobody may have a job now, as it perhaps ends its workers, and so does another that
    /// somebody has and that would die with it: all workers of the store share its process.
    [[nodiscard]] bool is_kept_apart(const JobState& job) const noexcept;
    /// Has such a READY job offered again within a second.
    void put_off(JobState& job, TimePoint now);
    /// Ends a job that was cancelled, whatever its state.
    void drop_cancelled(JobState& job, TimePoint now);
    /// Makes a job that is nowhere BURIED. Returns how many others are so, too, for want of space
    /// among the BURIED.
    std::size_t bury(JobState& job, TimePoint now);

    /// How many live workers serve each queue, and, without a name, how many have no profile.
    [[nodiscard]] std::map<std::string, std::uint64_t, std::less<>> workers_by_queue(
        TimePoint now) const;

    /// Why a push may not wait for the jobs that it names, if so.
    [[nodiscard]] Result<void> may_wait(const PushJob& step) const;
    /// Counts what happens to a job of a queue, if its jobs have ids.
    void note(const QueueState& queue, Throughput::Number number, TimePoint now) {
        if (queue.has_ids) throughput_.count(queue.name, number, now);
    }
    /// A job that is about to go was not done.
    void leave_batch(const JobState& job, JobFate fate);

    /// Those of some jobs that are there, each once.
    [[nodiscard]] static std::vector<JobId> present(const QueueState& queue,
                                                    std::vector<JobId> jobs);
    /// Makes a job that is nowhere wait for those of others that are there.
    static void wait_for(JobState& job, const std::vector<JobId>& others);
    /// The reverse, when it is nowhere again.
    static void stop_waiting(JobState& job);
    /// What waits for a job that was done waits for it no more.
    void release_dependents(QueueState& queue, JobId done, TimePoint now);
    /// What waits for a job that is gone is BURIED; returns how many those are.
    std::size_t bury_dependents(QueueState& queue, JobId gone, JobFate fate, TimePoint now);

    /// Ends the leases of a worker, the oldest first, of as many jobs as belong to the slice.
    static void release_all(Worker& worker, JobSlice& slice,
                            const std::function<void(JobState&)>& release);

    /// A job that stands in the index and nowhere else.
    JobState& make(QueueState& queue, std::string_view job, std::uint32_t hash, TimePoint run_at,
                   std::uint64_t order, OrderingGroup* group);
    /// Undoes `make`.
    void end(JobState& job);
    void destroy(JobState& job) noexcept;

    /// Forgets the queue that ran out of jobs before this one did, if it has none still and is not
    /// kept without. The last one stays: where jobs come and go one by one, its memory need not.
    void forget_before(QueueState& queue);

    /// The table of those that are paused was restored.
    void settle_paused();
    /// The same of those that have rate limits.
    void settle_limited();

    /// The last id that a batch was given.
    SequenceState& last_batch();

    static GroupedJob& grouped(JobState& job) noexcept { return static_cast<GroupedJob&>(job); }

    static constexpr Duration death_wait_first{1'000};
    static constexpr Duration death_wait_max{60'000};

    /// Of a store that keeps nothing, or was written before there was a number.
    static constexpr JobId all_begun = std::numeric_limits<JobId>::max();

    ChangeLog& changes_;
    CounterTable& counters_;
    SmallBlocks payloads_;
    std::map<std::string, QueueState, std::less<>> queues_;
    QueueState* found_last_ = nullptr;  ///< Steps in a row mostly name the same.
    QueueState& deliveries_ = queue(delivery_queue);
    QueueState* emptied_ = nullptr;  ///< The last that ran out of jobs, which it may have again.
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
    /// No process began a job with an id beyond it.
    SequenceState& reserved_begun_;
    ThroughputTable throughput_;
    JobBatchTable batches_{changes_, counters_, last_batch()};
    Slab<JobState> states_;
    Slab<GroupedJob> grouped_;
    std::uint64_t order_ = 0;
    std::optional<TimePoint> scrubbed_at_;  ///< When somebody last looked for dead workers.
    /// Jobs that were restored when their last attempt had been cut off, or their attempts were
    /// used up, by queue and id, until the next looks for dead workers.
    std::vector<std::pair<std::string, JobId>> cut_off_;
    /// Jobs that were BURIED for that since somebody last looked.
    std::vector<BuriedJob> died_last_;
};

}  // namespace routemaster::detail
