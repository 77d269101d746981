/// @file
/// The leases of a worker, for all kinds of workers: acquires jobs, sends heartbeats, settles jobs,
/// and releases the remaining jobs at the end.
///
///     AcquireJobs ──► acquired ──► begin ──► begun ──► settle ──► settled
///          ▲                         └─ refused: begin_again       └─ refused: sent again
///          │
///     due, woken, or after an interval           release: any worker may run the job again
///
///     each heartbeat_interval: Heartbeat, ScrubWorkers          close, no lease left: RetireWorker
///
/// Jobs found after an interval, although the store owed a wake-up, are counted (`wakeups.missed`)
/// and logged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "core/work/acquire_schedule.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/job.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct LeaseLoopOptions {
    std::string queue{};  ///< The queue to acquire from.
    /// Further names to watch (`Store::watch`).
    std::vector<std::string> further_watches{};
    Uid worker{};                        ///< Its id in the store. Live workers have different ids.
    Duration heartbeat_interval{1'000};  ///< Time between heartbeats.
    Duration worker_silence{3'500};      ///< Workers silent for this time count as dead.
    Duration poll_interval{1'000};       ///< Longest time between acquisitions without a wake-up.
    Duration wake_grace{20};             ///< See `AcquireSchedule`.
    std::size_t acquired_max = 256;      ///< Jobs per acquisition.
    /// Whether to call `Owner::lost` and `Owner::cancelled`.
    bool finds_lost = false;
    Log log{};
};

/// Throws `Failure`, `invalid`, naming the first invalid time.
void check_times(Duration heartbeat_interval, Duration worker_silence, Duration poll_interval,
                 Duration wake_grace);

/// The leases of a worker. Its owner does the jobs.
///
/// The owner polls the loop in two halves, with its own work between them: `receive` passes events
/// of the store to the owner; `send` submits steps and returns when to poll next. Steps about many
/// jobs are submitted together.
///
/// Settlements without a reply have at most `job_slice_bytes_max` bytes of jobs in all, or a single
/// job; further settlements wait for replies. Releases have this limit, too, and number at most
/// `released_max` at a time.
///
/// The loop has no more leases than its owner had slots. At the end, the remaining leases are
/// released, and the store forgets the worker. A refused step about a lease is repeated, after
/// growing delays, until the store performs it.
///
/// Thread safety: `trouble` from any thread, the rest from one thread at a time. The loop has no
/// thread and no clock. Replies and wake-ups may come from any thread, and are ignored after the
/// end of the loop.
class LeaseLoop {
public:
    /// The number of a lease in this loop. Never used twice.
    using Id = std::uint64_t;

    /// Does the jobs. Called inside `receive` only, unless noted. May then call all functions about
    /// leases.
    class Owner {
    public:
        /// The present destinations of its deliveries, as `AcquireJobs::destinations`. Called by
        /// `send`.
        [[nodiscard]] virtual std::optional<std::vector<std::string>> destinations() {
            return std::nullopt;
        }

        /// Called before a heartbeat: fills in the profile of the worker and its load. While the
        /// loop closes, the profile is sent without queues.
        virtual void describe(Heartbeat& heartbeat) { static_cast<void>(heartbeat); }

        /// A job was acquired. Its lease lasts until the job is settled or released.
        virtual void acquired(Id id, const Lease& lease) = 0;

        /// The store refused an acquisition. The loop tries again after a delay.
        virtual void not_acquired(const Error& error) { static_cast<void>(error); }

        /// The store has performed the step of `begin`.
        virtual void begun(Id id, Outcome outcome) {
            static_cast<void>(id);
            static_cast<void>(outcome);
        }

        /// The store refused the step of `begin`, and the delay is over: call `begin` again.
        virtual void begin_again(Id id) { static_cast<void>(id); }

        /// The store has performed the step of `settle`. `lease_lost` means: the worker was taken
        /// for dead and another worker has the job. If there were `refusals`, it can also mean: an
        /// earlier try settled the job, and its reply was lost. The lease is forgotten after this
        /// call.
        virtual void settled(Id id, Settlement settlement) = 0;

        /// The store did not hear of the worker for so long that a scrub ended this lease. The
        /// lease is forgotten after this call. Not called for a lease being settled: `settled`
        /// reports the loss.
        virtual void lost(Id id) { static_cast<void>(id); }

        /// The job was cancelled. Its lease lasts. Called after each heartbeat until the job is
        /// settled.
        virtual void cancelled(Id id) { static_cast<void>(id); }

        /// A step about the lease was refused for good: the job is not for this kind of worker, or
        /// the worker may not perform the step. The lease lasts: `release` the job or `settle` it
        /// by another step.
        virtual void unfit(Id id, const Error& error) = 0;

    protected:
        ~Owner() = default;
    };

    /// Both must outlive the loop. Throws as `check_times` does.
    LeaseLoop(Store& store, LeaseLoopOptions options, Owner& owner);

    LeaseLoop(const LeaseLoop&) = delete;
    LeaseLoop& operator=(const LeaseLoop&) = delete;

    /// Calls `wake`, from any thread, when the loop must be polled sooner than `send` said.
    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    // --- A poll ---------------------------------------------------------------------------------

    /// The first half: takes events, and calls the owner.
    void receive(TimePoint now);

    /// The second half: submits settlements, then beginnings, then the rest, and asks for jobs, at
    /// most `free`. Returns when to poll next.
    TimePoint send(std::size_t free);

    // --- Leases ---------------------------------------------------------------------------------

    /// Submits a step that begins the job, with the next `send`.
    void begin(Id id, Step step);

    /// Submits a step that ends the job, and repeats it until the store has performed it. The reply
    /// to the step must be or contain a `Settlement`. Call once per lease, and again after `unfit`.
    void settle(Id id, Step step);

    /// Whether there is room for further settlements. Each is stored with its job until the store
    /// has performed it. With many settlements, call this first; it may change with the next
    /// `receive`.
    [[nodiscard]] bool takes_settlements() const noexcept {
        return settling_bytes_ < job_slice_bytes_max;
    }

    /// Releases a job, to run again at once or at `run_at`. The attempt does not count. The lease
    /// is forgotten.
    void release(Id id) { release(id, now_); }
    void release(Id id, TimePoint run_at);

    /// Forgets a lease ended by the store, as the reply to `begin` says.
    void forget(Id id);

    /// Submits a step without a lease. Its reply is ignored.
    void fire_and_forget(Step step) { others_.push_back(std::move(step)); }

    /// Makes the next `send` ask for jobs, if there are free slots and no acquisition is under way.
    void ask_now() noexcept { schedule_.ask_at(now_); }

    /// How many jobs the acquisition under way asked for; 0 without an acquisition.
    [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
    /// Whether the loop would ask for jobs now, if there were free slots.
    [[nodiscard]] bool wants_jobs() const noexcept { return !closing() && schedule_.due(now_); }

    /// Number of leases whose settlement was refused, for example for want of space, and not
    /// performed since.
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }

    /// Whether the worker certainly has all its leases: no scrub can have taken the worker for dead
    /// since the store last confirmed the leases. Only with `finds_lost`.
    [[nodiscard]] bool knows_leases() const noexcept;

    [[nodiscard]] std::size_t leased() const noexcept { return leased_.size(); }
    [[nodiscard]] std::size_t leased_bytes() const noexcept { return leased_bytes_; }

    [[nodiscard]] const Lease& lease(Id id) const { return leased_.at(id).lease; }
    /// Whether `settle` was called for the lease. True for all leases of a retiring worker.
    [[nodiscard]] bool settling(Id id) const {
        return retiring_ || leased_.at(id).settlement.has_value();
    }
    /// How often the store refused a step about the lease.
    [[nodiscard]] std::uint32_t refusals(Id id) const { return leased_.at(id).refusals; }

    // --- The end --------------------------------------------------------------------------------

    /// Stops acquisitions. A job that arrives after `deadline` is released unseen. The owner must
    /// release its remaining jobs at the deadline. The worker retires when it has no lease. After
    /// the deadline, it also retires when only settlements remain and the store performs none of
    /// them for 5 s.
    void close(TimePoint deadline);

    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }
    [[nodiscard]] bool over(TimePoint now) const noexcept { return closing() && now >= *close_at_; }
    /// Whether the worker has no lease and will get none.
    [[nodiscard]] bool retiring() const noexcept { return retiring_; }
    /// Whether the store has forgotten the worker.
    [[nodiscard]] bool retired() const noexcept { return retired_; }

    /// Why there are no jobs: the store has not replied for 5 s. Empty when healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    struct Leased {
        Lease lease;
        std::uint32_t refusals = 0;
        bool settlement_refused = false;
        std::optional<Step> settlement{};
    };

    struct Released {
        Lease lease;
        TimePoint run_at;
    };

    // Events, from any thread.
    struct GotJobs {
        Result<Acquired> acquired;
        bool unannounced = false;  // The request was `unannounced`.
        bool all = false;          // The request asked for all leases of the worker.
    };
    struct Heard {
        TimePoint at;  // When the heartbeat was sent.
        std::vector<std::uint64_t> cancelled;
    };
    struct Begun {
        std::vector<Id> ids;
        std::vector<Outcome> outcomes;
    };
    struct Settled {
        std::vector<Id> ids{};
        std::vector<Outcome> outcomes{};
        std::size_t bytes = 0;  // Bytes of the jobs.
    };
    struct GaveBack {
        std::vector<Released> leases{};
        std::vector<Outcome> outcomes{};
    };
    struct Retired {
        Result<ReleasedJobs> jobs;
    };
    struct Scrubbed {
        ReleasedJobs jobs;
    };

    /// Jobs found without a wake-up. The wake-up may still be on its way.
    struct Unannounced {
        std::size_t jobs;
        std::string why;  // Why the first job had not begun.
        TimePoint until;  // End of the wait for the wake-up.
    };
    using Event = std::variant<GotJobs, Heard, Begun, Settled, GaveBack, Retired, Scrubbed>;

    using OwnEventQueue = detail::OwnEventQueue<Event>;

    struct Outgoing {
        std::vector<Id> ids;
        std::vector<Step> steps;
    };

    static constexpr Duration settle_timeout{5'000};
    static constexpr Duration wake_up_delay_max{100};

    void on(GotJobs& got);
    /// An unannounced request found jobs.
    void suspect(const std::vector<JobExplanation>& explained, std::size_t jobs);
    /// No wake-up came for these jobs.
    void report_missed();
    void on(Heard& heard);
    void on(Begun& begun);
    void on(Settled& settled);
    void on(GaveBack& back);
    void on(Retired& retired);
    void on(Scrubbed& scrubbed);

    void take(Lease lease);
    Lease drop(std::unordered_map<Id, Leased>::iterator leased);
    /// Compares the leases with the reply of the store.
    void find_lost(GotJobs& got);

    /// The first refusals in a group of steps.
    struct Refusals {
        std::size_t jobs = 0;
        std::string why{};
    };
    /// The store refused a step about this lease.
    void refused(Id id, const Error& error, Refusals& refusals);
    void report(const Refusals& refusals) const;
    void retry_due();
    void clock_set_back();
    void send_settlement(Id id);
    void post_settlements();
    void post_released();

    void stay_alive();
    void beat();
    [[nodiscard]] Heartbeat heartbeat() const;
    /// Without a reply for this time, the store counts as away.
    [[nodiscard]] Duration away_after() const noexcept { return 2 * options_.heartbeat_interval; }
    /// Forgets the remaining leases before the worker retires.
    void wind_up();
    /// Whether the end must wait for a lease.
    [[nodiscard]] bool awaiting() const;
    void retire();

    /// The outcomes come back in `event`.
    template <class Back>
    void post(std::vector<Step> steps, Back event);
    void post_others();
    void ask_for_jobs();
    /// The acquisition: the only place where a worker says which jobs it wants.
    [[nodiscard]] AcquireJobs acquisition(std::size_t limit) const;

    [[nodiscard]] TimePoint next_poll() const;
    void warn(const std::string& text) const {
        if (options_.log) options_.log(LogLevel::warning, text);
    }

    Store& store_;
    LeaseLoopOptions options_;
    Owner& owner_;
    OwnEventQueue events_;
    std::vector<Watch> watches_;
    TimePoint now_{};
    AcquireSchedule schedule_;
    std::optional<Unannounced> unannounced_;
    std::size_t destinations_ = 0;  // Number of destinations in the last request.
    std::size_t free_ = 0;
    std::size_t asked_ = 0;
    TimePoint heard_at_ = never;  // When the last heartbeat with a reply was sent.
    bool asks_for_all_ = false;   // The next request asks for all leases of the worker.
    bool may_have_lost_ = false;  // True until the reply to this request.
    std::unordered_map<Id, Leased> leased_;
    std::size_t leased_bytes_ = 0;
    std::size_t settling_bytes_ = 0;    // Bytes of jobs with a settlement.
    std::size_t unanswered_bytes_ = 0;  // Bytes of jobs with a submitted settlement.
    std::size_t refused_ = 0;           // Number of leases with a refused settlement.
    Id last_id_ = 0;
    std::uint64_t newest_fence_ = 0;
    std::multimap<TimePoint, Id> retries_;
    Outgoing begins_;
    std::deque<Id> unsent_;     // Leases with settlements to submit, in order.
    std::vector<Step> others_;  // Their replies are mostly ignored.
    std::deque<Released> released_;
    bool releasing_ = false;  // A chunk of releases is submitted.
    TimePoint release_at_{};  // Earliest next try after a refusal.
    std::uint32_t release_refusals_ = 0;
    TimePoint first_heartbeat_ = never;
    TimePoint last_heartbeat_ = never;
    bool spared_others_ = false;   ///< The last scrub was skipped.
    bool store_was_away_ = false;  ///< The store was away since the last heartbeat with a reply.
    TimePoint spares_until_ = TimePoint::min();  ///< No scrubs before this time.
    TimePoint next_heartbeat_{};
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_{};  // End of the wait for settlements after the deadline.
    bool retiring_ = false;
    TimePoint retire_at_ = never;  // When to submit the retirement.
    TimePoint retire_by_{};        // When to give up the retirement.
    std::uint32_t retire_refusals_ = 0;
    bool retired_ = false;
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
};

}  // namespace routemaster::detail
