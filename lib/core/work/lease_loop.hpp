/// @file
/// What every worker does about its leases, whatever its jobs are: it acquires jobs, sends
/// heartbeats, settles what is done, and releases the rest when it ends.
///
///     AcquireJobs ──► acquired ──► begin ──► begun ──► settle ──► settled
///          ▲                         └─ refused: begin_again       └─ refused: sent again
///          │
///     due, woken, or after an interval           release: the job runs again, elsewhere perhaps
///
///     each heartbeat_interval: Heartbeat, ScrubWorkers          close, no lease left: RetireWorker
///
/// Jobs that a look after an interval finds, though the store should have woken the worker before,
/// are counted (`wakeups.missed`) and logged.

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

/// Settings of a `LeaseLoop`.
struct LeaseLoopOptions {
    std::string queue{};                         ///< Whose jobs it acquires.
    std::vector<std::string> further_watches{};  ///< What wakes it besides (`Store::watch`).
    Uid worker{};  ///< Its id in the store. No two live workers have the same.
    Duration heartbeat_interval{1'000};  ///< How often it says that it is alive.
    Duration worker_silence{3'500};      ///< Workers silent for so long are taken for dead.
    Duration poll_interval{1'000};       ///< A look at the queue even when nobody woke it.
    Duration wake_grace{20};             ///< See `AcquireSchedule`.
    std::size_t acquired_max = 256;      ///< Jobs that it asks for at once.
    bool finds_lost = false;  ///< Whether the owner wants `Owner::lost` and `Owner::cancelled`.
    Log log{};
};

/// Throws `Failure`, `invalid`, naming the first of these times with which a worker could not work.
void check_times(Duration heartbeat_interval, Duration worker_silence, Duration poll_interval,
                 Duration wake_grace);

/// A worker's leases. Its owner does the jobs.
///
/// The owner polls it in two halves, with its own work between them: `receive` passes on what came
/// from the store, `send` sends what the loop and its owner have for the store and says when
/// to poll next. Steps about many jobs leave together.
///
/// Settlements leave in slices, each once the store has answered those before: of their jobs it has
/// no more than `job_slice_bytes_max` to answer for, or one job. So do those that are released, of
/// which there are no more than `released_max` in a slice, either.
///
/// It has no more leases than the owner had slots for. Those that are left at its end are released,
/// and the store forgets the worker. A step about a lease that the store refuses is repeated,
/// after growing waits, until the store does it.
///
/// Thread safety: `trouble` from any thread, the rest from one at a time. It has no thread and no
/// clock. Replies and wake-ups may come from any thread, and after its end they reach nobody.
class LeaseLoop {
public:
    /// The number of a lease in this loop. Never used twice.
    using Id = std::uint64_t;

    /// Does the jobs. Called inside `receive` alone, where it may call all that is about leases.
    class Owner {
    public:
        /// Where it can deliver to now, as `AcquireJobs::destinations` says. Asked by `send`.
        [[nodiscard]] virtual std::optional<std::vector<std::string>> destinations() {
            return std::nullopt;
        }

        /// A heartbeat is about to be sent: fills in the profile of the worker, and how busy the
        /// worker is. While the loop closes, the profile goes without queues.
        virtual void describe(Heartbeat& heartbeat) { static_cast<void>(heartbeat); }

        /// A job was acquired. Its lease lasts until the job is settled or nacked.
        virtual void acquired(Id id, const Lease& lease) = 0;

        /// The store could not say which jobs there are. It is asked again after a wait.
        virtual void not_acquired(const Error& error) { static_cast<void>(error); }

        /// The store has done the step of `begin`.
        virtual void begun(Id id, Outcome outcome) {
            static_cast<void>(id);
            static_cast<void>(outcome);
        }

        /// The store could not do the step of `begin`, and the wait is over: call it again.
        virtual void begin_again(Id id) { static_cast<void>(id); }

        /// The store has done the step of `settle`. `lease_lost`: the worker was taken for dead and
        /// the job handed on, or, if there were `refusals`, an earlier try had settled it though
        /// its reply was lost. The lease is forgotten once this returns.
        virtual void settled(Id id, Settlement settlement) = 0;

        /// The store was not heard of for so long that others may have taken the worker for dead,
        /// and now says that they did: the lease is lost, and forgotten once this returns.
        /// Not called for what is being settled: `settled` reports the same.
        virtual void lost(Id id) { static_cast<void>(id); }

        /// The job was cancelled. Its lease lasts. Called with each heartbeat until it is settled.
        virtual void cancelled(Id id) { static_cast<void>(id); }

        /// A step about it is `invalid`: the queue holds a job that is not for this kind of worker;
        /// or the worker may not do what it asks for. Its lease lasts: `release` it, or `settle` it
        /// by another step.
        virtual void unfit(Id id, const Error& error) = 0;

    protected:
        ~Owner() = default;
    };

    /// Both must outlive it. Throws as `check_times` does.
    LeaseLoop(Store& store, LeaseLoopOptions options, Owner& owner);

    LeaseLoop(const LeaseLoop&) = delete;
    LeaseLoop& operator=(const LeaseLoop&) = delete;

    /// Calls `wake`, from any thread, when it should be polled sooner than `send` said.
    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    // --- A poll ---------------------------------------------------------------------------------

    /// The first half: takes in what has come, and calls the owner.
    void receive(TimePoint now);

    /// The second half: sends settlements, then beginnings, then the rest, and asks for jobs, at
    /// most as many as there are `free` slots. Returns when to poll next.
    TimePoint send(std::size_t free);

    // --- Leases ---------------------------------------------------------------------------------

    /// Sends a step that begins the job, with the next `send`.
    void begin(Id id, Step step);

    /// Sends the step that ends the job, whose reply is a `Settlement`, and repeats it until the
    /// store has done it. Once, and again after `unfit`.
    void settle(Id id, Step step);

    /// Whether there is room for further settlements. Whoever has many waits for it, with the next
    /// `receive`, as each is kept with its job until the store has done it.
    [[nodiscard]] bool takes_settlements() const noexcept {
        return settling_bytes_ < job_slice_bytes_max;
    }

    /// Releases a job that was not done, to run again at once or at `run_at`; where attempts are
    /// counted, this one does not count. Its lease is forgotten.
    void release(Id id) { release(id, now_); }
    void release(Id id, TimePoint run_at);

    /// Forgets a lease that the store has ended by itself, as the reply of `begin` says.
    void forget(Id id);

    /// Sends a step that is about no lease, and whose reply does not matter.
    void fire_and_forget(Step step) { others_.push_back(std::move(step)); }

    /// The next `send` asks for jobs, if there are free slots and no question is unanswered.
    void ask_now() noexcept { schedule_.ask_at(now_); }

    /// How many jobs it has asked for, and has no answer yet.
    [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
    /// Whether it would ask for jobs now if there were free slots.
    [[nodiscard]] bool wants_jobs() const noexcept { return !closing() && schedule_.due(now_); }

    /// How many of its leases the store has refused to settle, for want of space for example, and
    /// not settled since.
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }

    /// Whether it has all the leases that it knows, as nobody can have taken it for dead that has
    /// not been asked since what was lost. Only where the owner wants `Owner::lost`.
    [[nodiscard]] bool knows_leases() const noexcept;

    /// How many leases it has.
    [[nodiscard]] std::size_t leased() const noexcept { return leased_.size(); }
    /// Bytes of their jobs.
    [[nodiscard]] std::size_t leased_bytes() const noexcept { return leased_bytes_; }

    [[nodiscard]] const Lease& lease(Id id) const { return leased_.at(id).lease; }
    /// Whether `settle` was called for it. So are all that are left when it retires.
    [[nodiscard]] bool settling(Id id) const {
        return retiring_ || leased_.at(id).settlement.has_value();
    }
    /// How many times the store could not do a step about it.
    [[nodiscard]] std::uint32_t refusals(Id id) const { return leased_.at(id).refusals; }

    // --- The end --------------------------------------------------------------------------------

    /// Acquires nothing any more. A job that arrives after `deadline` is nacked unseen; those whose
    /// leases are left then are for the owner to nack. The worker retires once it has no lease, or
    /// when after the deadline only settlements are left, and the store does none of them for 5 s.
    void close(TimePoint deadline);

    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }
    /// Whether the deadline is past.
    [[nodiscard]] bool over(TimePoint now) const noexcept { return closing() && now >= *close_at_; }
    /// Whether it has no lease and never will again.
    [[nodiscard]] bool retiring() const noexcept { return retiring_; }
    /// Whether the store has forgotten the worker.
    [[nodiscard]] bool retired() const noexcept { return retired_; }

    /// Why there are no jobs: the store has not answered for 5 s. Nothing when all is well.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    struct Leased {
        Lease lease;
        std::uint32_t refusals = 0;
        bool settlement_refused = false;
        std::optional<Step> settlement{};
    };

    /// A lease that goes back.
    struct Released {
        Lease lease;
        TimePoint run_at;
    };

    // What comes back, from whichever thread.
    struct GotJobs {
        Result<Acquired> acquired;
        bool unannounced = false;  // It was a look in spite of the store.
        bool all = false;          // Whether all leases of this worker are among them.
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
        std::size_t bytes = 0;  // Of the jobs.
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

    /// Jobs that were found though no wake-up had come. One may still be on its way.
    struct Unannounced {
        std::size_t jobs;
        std::string why;  // The first of them had not begun.
        TimePoint until;  // How long its wake-up is awaited.
    };
    using Event = std::variant<GotJobs, Heard, Begun, Settled, GaveBack, Retired, Scrubbed>;

    using OwnEventQueue = detail::OwnEventQueue<Event>;

    /// Steps that leave together, and whose they are.
    struct Outgoing {
        std::vector<Id> ids;
        std::vector<Step> steps;
    };

    static constexpr Duration settle_timeout{5'000};
    static constexpr Duration wake_up_delay_max{100};

    void on(GotJobs& got);
    /// A look in spite of the store found jobs.
    void suspect(const std::vector<JobExplanation>& explained, std::size_t jobs);
    /// No wake-up came for them until now.
    void report_missed();
    void on(Heard& heard);
    void on(Begun& begun);
    void on(Settled& settled);
    void on(GaveBack& back);
    void on(Retired& retired);
    void on(Scrubbed& scrubbed);

    void take(Lease lease);
    /// Forgets a lease, and returns it.
    Lease drop(std::unordered_map<Id, Leased>::iterator leased);
    /// Compares its leases with what the store says.
    void find_lost(GotJobs& got);

    /// Of steps that travelled together, those that were refused for the first time.
    struct Refusals {
        std::size_t jobs = 0;
        std::string why{};
    };
    /// The store could not do a step about this lease.
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
    /// Without an answer for so long, the store is away.
    [[nodiscard]] Duration away_after() const noexcept { return 2 * options_.heartbeat_interval; }
    /// Forgets the leases that are left, before the worker retires.
    void wind_up();
    /// Whether the end waits for a lease.
    [[nodiscard]] bool awaiting() const;
    void retire();

    /// The outcomes come back in the event.
    template <class Back>
    void post(std::vector<Step> steps, Back event);
    void post_others();
    void ask_for_jobs();
    /// The question: the one place where a worker says which jobs it wants.
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
    std::size_t destinations_ = 0;  // How many the last question named.
    std::size_t free_ = 0;
    std::size_t asked_ = 0;
    TimePoint heard_at_ = never;  // When the last heartbeat was sent that the store replied to.
    bool asks_for_all_ = false;   // The next question is for all leases of this worker.
    bool may_have_lost_ = false;  // Until the answer to that.
    std::unordered_map<Id, Leased> leased_;
    std::size_t leased_bytes_ = 0;
    std::size_t settling_bytes_ = 0;    // Of those with a settlement.
    std::size_t unanswered_bytes_ = 0;  // Of those with one that the store is to answer.
    std::size_t refused_ = 0;           // Of these.
    Id last_id_ = 0;
    std::uint64_t newest_fence_ = 0;
    std::multimap<TimePoint, Id> retries_;
    Outgoing begins_;
    std::deque<Id> unsent_;     // Whose settlements are to be sent, in this order.
    std::vector<Step> others_;  // Their replies matter little.
    std::deque<Released> released_;
    bool releasing_ = false;  // The store is to answer for a slice of released ones.
    TimePoint release_at_{};  // Not before: the store could not do it.
    std::uint32_t release_refusals_ = 0;
    TimePoint first_heartbeat_ = never;
    TimePoint last_heartbeat_ = never;
    bool spared_others_ = false;   ///< It did not look for the dead with its last heartbeat.
    bool store_was_away_ = false;  ///< Since the last heartbeat that it replied to.
    TimePoint spares_until_ = TimePoint::min();  ///< It does not look for the dead before.
    TimePoint next_heartbeat_{};
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_{};  // How long settlements are awaited beyond the deadline.
    bool retiring_ = false;
    TimePoint retire_at_ = never;  // When the store is to be told.
    TimePoint retire_by_{};        // How long that is tried.
    std::uint32_t retire_refusals_ = 0;
    bool retired_ = false;
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
};

}  // namespace routemaster::detail
