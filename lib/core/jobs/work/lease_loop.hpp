/// @file
/// `LeaseLoop`: manages the leases of a worker, for all kinds of workers. The loop acquires jobs,
/// sends heartbeats, settles jobs, and releases the remaining jobs when closed.
///
///     AcquireJobs ──► acquired ──► begin ──► begun ──► settle ──► settled
///          ▲                         └─ refused: begin_again       └─ refused: sent again
///          │
///     due, woken, or after an interval           release: any worker may run the job again
///
///     each heartbeat_interval: Heartbeat, ScrubWorkers          close, no lease left: RetireWorker
///
/// A poll after an interval should find no jobs, because a wake-up announces each job. Jobs found
/// without a wake-up are counted (`wakeups.missed`) and logged.

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

#include "core/jobs/work/acquire_schedule.hpp"
#include "core/jobs/work/heartbeat_schedule.hpp"
#include "core/jobs/work/refusal.hpp"
#include "core/jobs/work/released_leases.hpp"
#include "core/work/event_queue.hpp"
#include "routemaster/job.hpp"
#include "routemaster/log.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"

namespace routemaster::detail {

struct LeaseLoopOptions {
    std::string queue{};
    /// Further names to watch for wake-ups (`Store::watch`).
    std::vector<std::string> further_watches{};
    Uid worker{};  ///< Id of this worker in the store, unique among live workers.
    Duration heartbeat_interval{1'000};
    Duration worker_silence{3'500};  ///< Workers silent for this time count as dead.
    Duration poll_interval{1'000};   ///< Longest time between acquisitions without a wake-up.
    Duration wake_grace{20};         ///< See `AcquireSchedule`.
    std::size_t acquired_max = 256;
    /// Whether `Owner::lost` and `Owner::cancelled` are called.
    bool finds_lost = false;
    Log log{};
};

/// Throws `Failure` with `invalid`, which names the first invalid duration.
void check_times(Duration heartbeat_interval, Duration worker_silence, Duration poll_interval,
                 Duration wake_grace);

/// Manager of the leases of a worker. The loop's owner runs the jobs.
///
/// The owner polls the loop in two halves, and does its own work in between. `receive` passes
/// events of the store to the owner. `send` submits steps and returns when to poll next. Steps for
/// several jobs are submitted together.
///
/// Settlements without a reply are limited to `job_slice_bytes_max` bytes of jobs, or one job.
/// Further settlements wait for replies. Releases have this limit, too, and number at most
/// `released_max` at a time.
///
/// The loop has no more leases than its owner had slots. A closed loop releases the remaining
/// leases, and the store removes the worker. A rejected step about a lease is repeated, after
/// growing delays, until the store performs it.
///
/// Thread safety: `trouble` from any thread, the rest from one thread at a time. The loop has no
/// thread and no clock. Replies and wake-ups may arrive on any thread, and are ignored after the
/// loop is destroyed.
class LeaseLoop {
public:
    /// The number of a lease in this loop. Numbers are never reused.
    using Id = std::uint64_t;

    /// Runs the jobs. Its members are called only inside `receive`, unless noted, and may call all
    /// functions about leases.
    class Owner {
    public:
        /// The present destinations of its deliveries, as in `AcquireJobs::destinations`. Called by
        /// `send`.
        [[nodiscard]] virtual std::optional<std::vector<std::string>> destinations() {
            return std::nullopt;
        }

        /// Fills in the profile and the load of the worker. Called before each heartbeat. While the
        /// loop closes, the profile is sent without queues.
        virtual void describe(Heartbeat& heartbeat) { static_cast<void>(heartbeat); }

        /// A job was acquired. The lease lasts until the job is settled or released.
        virtual void acquired(Id id, const Lease& lease) = 0;

        /// The store returned an error for an acquisition. The loop tries again after a delay.
        virtual void not_acquired(const Error& error) { static_cast<void>(error); }

        virtual void begun(Id id, Outcome outcome) {
            static_cast<void>(id);
            static_cast<void>(outcome);
        }

        /// The store had rejected the step that was passed to `begin`, and the delay before a
        /// repetition has passed. The owner should call `begin` again.
        virtual void begin_again(Id id) { static_cast<void>(id); }

        /// The store has performed the step passed to `settle`. `lease_lost` means that the worker
        /// was taken for dead and another worker has the job. If `refusals` is not 0, `lease_lost`
        /// can also mean that an earlier try settled the job, but its reply was lost. The lease is
        /// removed after this call.
        virtual void settled(Id id, Settlement settlement) = 0;

        /// The store received no heartbeat of the worker for a long time, and a scrub ended this
        /// lease. The lease is removed after this call. Not called for a lease being settled,
        /// because `settled` reports the loss.
        virtual void lost(Id id) { static_cast<void>(id); }

        /// The job was cancelled. The lease is still valid. Called after each heartbeat until the
        /// job is settled.
        virtual void cancelled(Id id) { static_cast<void>(id); }

        /// The store rejected a step about the lease for good: the job is not for this kind of
        /// worker, or the worker may not perform the step. The lease is still valid. The owner must
        /// call `release`, or call `settle` with another step.
        virtual void unfit(Id id, const Error& error) = 0;

    protected:
        ~Owner() = default;
    };

    /// `store` and `owner` must outlive the loop. Throws as `check_times` does.
    LeaseLoop(Store& store, LeaseLoopOptions options, Owner& owner);

    LeaseLoop(const LeaseLoop&) = delete;
    LeaseLoop& operator=(const LeaseLoop&) = delete;

    /// Sets a function that is called, from any thread, when the loop must be polled earlier than
    /// `send` said.
    void wake_with(std::function<void()> wake) { events_->wake_with(std::move(wake)); }

    // --- A poll ---------------------------------------------------------------------------------

    /// First half of a poll: processes events of the store, and calls the owner.
    void receive(TimePoint now);

    /// Second half of a poll: submits settlements, then the steps that begin jobs, then all other
    /// steps, and requests jobs, at most `free`. Returns when to poll next.
    TimePoint send(std::size_t free);

    // --- Leases ---------------------------------------------------------------------------------

    /// Queues a step that begins the job. The next `send` submits it.
    void begin(Id id, Step step);

    /// Queues a step that ends the job, and repeats the step until the store has performed it. The
    /// reply to the step must be or contain a `Settlement`. To be called once per lease, and again
    /// after `unfit`.
    void settle(Id id, Step step);

    /// Whether the loop accepts further settlements. The loop stores each settlement with its job
    /// until the store has performed the settlement, up to a total size. A caller with many
    /// settlements should check this first. The result may change with the next `receive`.
    [[nodiscard]] bool takes_settlements() const noexcept {
        return settling_bytes_ < job_slice_bytes_max;
    }

    /// Releases a job without counting the attempt. The job is due again at once or at `run_at`.
    /// The lease is removed.
    void release(Id id) { release(id, now_); }
    void release(Id id, TimePoint run_at);

    /// Removes a lease that the store has ended, as the reply to `begin` says.
    void forget(Id id);

    /// Queues a step that is not about a lease. Its reply is ignored.
    void fire_and_forget(Step step) { others_.push_back(std::move(step)); }

    /// Makes the next `send` request jobs, if there are free slots and no acquisition is in
    /// progress.
    void ask_now() noexcept { schedule_.ask_at(now_); }

    /// How many jobs the acquisition in progress requested; 0 if none is in progress.
    [[nodiscard]] std::size_t asked() const noexcept { return asked_; }
    /// Whether the loop would request jobs now if there were free slots.
    [[nodiscard]] bool wants_jobs() const noexcept { return !closing() && schedule_.due(now_); }

    /// Number of leases whose settlement the store rejected, for example because it is full, and
    /// has not performed since.
    [[nodiscard]] std::size_t refused() const noexcept { return refused_; }

    /// Whether the worker certainly has all its leases. True while the last confirmation of the
    /// store is too recent for the worker to be declared dead. Only with `finds_lost`.
    [[nodiscard]] bool knows_leases() const noexcept;

    [[nodiscard]] std::size_t leased() const noexcept { return leased_.size(); }
    [[nodiscard]] std::size_t leased_bytes() const noexcept { return leased_bytes_; }

    [[nodiscard]] const Lease& lease(Id id) const { return leased_.at(id).lease; }
    /// Whether `settle` was called for the lease. Always true once the worker is retiring.
    [[nodiscard]] bool settling(Id id) const {
        return retiring_ || leased_.at(id).settlement.has_value();
    }
    [[nodiscard]] std::uint32_t refusals(Id id) const { return leased_.at(id).refusals; }

    // --- Closing --------------------------------------------------------------------------------

    /// Stops acquisitions. A job that arrives after `deadline` is released without a call of the
    /// owner. The owner must release its remaining jobs at the deadline. The worker retires when it
    /// has no lease. After the deadline, it also retires if only settlements remain and the store
    /// performs no settlement for 5 s.
    void close(TimePoint deadline);

    [[nodiscard]] bool closing() const noexcept { return close_at_.has_value(); }
    [[nodiscard]] bool over(TimePoint now) const noexcept { return closing() && now >= *close_at_; }
    [[nodiscard]] bool retiring() const noexcept { return retiring_; }
    [[nodiscard]] bool retired() const noexcept { return retired_; }

    /// Why no jobs are acquired: the store has not replied for 5 s. Empty when healthy.
    [[nodiscard]] std::optional<std::string> trouble() const;

private:
    struct Leased {
        Lease lease;
        std::uint32_t refusals = 0;
        bool settlement_refused = false;
        std::optional<Step> settlement{};
    };

    // Events. They may be added from any thread.
    struct GotJobs {
        Result<Acquired> acquired;
        bool unannounced = false;  // The request was `AcquireSchedule::unannounced`.
        bool all = false;
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
        std::size_t bytes = 0;
    };
    struct GaveBack {
        std::vector<ReleasedLeases::Released> leases{};
        std::vector<Outcome> outcomes{};
    };
    struct Retired {
        Result<ReleasedJobs> jobs;
    };
    struct Scrubbed {
        ReleasedJobs jobs;
    };

    /// Jobs found without a wake-up. The wake-up may be delayed. The loop waits a short time before
    /// reporting a missed wake-up.
    struct Unannounced {
        std::size_t jobs;
        std::string why;  // Why the first of the jobs had not begun earlier.
        TimePoint until;  // When to stop waiting for the wake-up.
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
    void suspect(const std::vector<JobExplanation>& explained, std::size_t jobs);
    void report_missed();
    void on(Heard& heard);
    void on(Begun& begun);
    void on(Settled& settled);
    void on(GaveBack& back);
    void on(Retired& retired);
    void on(Scrubbed& scrubbed);

    void take(Lease lease);
    Lease drop(std::unordered_map<Id, Leased>::iterator leased);
    /// Compares the leases with a reply that lists all leases of the worker, and reports the
    /// missing ones as lost.
    void find_lost(GotJobs& got);

    /// Number of rejected steps in a submission, and the first reason.
    struct Refusals {
        std::size_t jobs = 0;
        std::string why{};
    };
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
    void wind_up();
    [[nodiscard]] bool awaiting() const;
    void retire();

    template <class Back>
    void post(std::vector<Step> steps, Back event);
    void post_others();
    void ask_for_jobs();
    /// Builds the acquisition step. This function alone decides which jobs the worker requests.
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
    HeartbeatSchedule heartbeats_;
    std::optional<Unannounced> unannounced_;
    std::size_t destinations_ = 0;
    std::size_t free_ = 0;
    std::size_t asked_ = 0;
    bool asks_for_all_ = false;   // The next request asks for all leases of the worker.
    bool may_have_lost_ = false;  // True until the reply to this request.
    std::unordered_map<Id, Leased> leased_;
    std::size_t leased_bytes_ = 0;
    std::size_t settling_bytes_ = 0;    // Bytes of the jobs with a settlement.
    std::size_t unanswered_bytes_ = 0;  // Bytes of the jobs whose settlement has no reply yet.
    std::size_t refused_ = 0;
    Id last_id_ = 0;
    std::uint64_t newest_fence_ = 0;
    std::multimap<TimePoint, Id> retries_;
    Outgoing begins_;
    std::deque<Id> unsent_;     // Leases whose settlements must be submitted, in order.
    std::vector<Step> others_;  // Steps that are not about a lease. Most replies are ignored.
    ReleasedLeases released_;
    std::optional<TimePoint> close_at_;
    TimePoint settle_by_{};  // After the deadline: how long to wait for settlements.
    bool retiring_ = false;
    TimePoint retire_at_ = never;  // When to submit the retirement.
    TimePoint retire_by_{};        // When to stop trying to retire.
    std::uint32_t retire_refusals_ = 0;
    bool retired_ = false;
    mutable std::mutex trouble_mutex_;  // Guards `trouble_`.
    std::optional<std::string> trouble_;
};

}  // namespace routemaster::detail
