/// @file
/// The account of a world: what the store said, and what must therefore be so.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doomed_jobs.hpp"
#include "follow_up_accounts.hpp"
#include "group_accounts.hpp"
#include "job_batch_accounts.hpp"
#include "job_dependencies.hpp"
#include "rate_accounts.hpp"
#include "recurring_accounts.hpp"
#include "routemaster/batch.hpp"
#include "routemaster/step.hpp"
#include "routemaster/time.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"
#include "timer_accounts.hpp"

namespace routemaster::simulation {

/// Follows what the store was asked to do and what it replied, in the order of the answers, and
/// ends the world when an answer contradicts an earlier one, or what happened contradicts both. It
/// knows nothing of the code of the store. What was performed and never answered, because power was
/// lost, is in doubt: it may have happened or not. Not thread safe.
class Oracle {
public:
    /// `context` must outlive it.
    explicit Oracle(SimulationContext& context);

    // --- What the store is asked and answers ----------------------------------------------------

    /// Steps are about to be performed. Returns their number. `refusing`: the disk fails.
    std::uint64_t submitted(std::span<const Step> steps, TimePoint now, bool refusing);
    /// They were answered.
    void replied(std::uint64_t number, std::span<const Outcome> outcomes);

    /// Power was lost: leases have ended, and what was not answered is in doubt.
    void crashed();
    /// The store read what is on disk. If the clock was set back, a job of which it was time
    /// already has to wait once more.
    void read_again();
    /// A commit failed, and the store read again what is on disk: what was not answered is undone,
    /// and silences count from now.
    void reloaded();

    // --- What happens outside -------------------------------------------------------------------

    /// A batch reached its subscriber, which has taken it in.
    void arrived(const std::string& subscriber, const Uid& batch, const MessageList& messages);
    /// Jobs that the next push may wait for.
    [[nodiscard]] std::vector<JobId> draw_dependencies() { return dependencies_.draw(); }

    /// A job was done.
    void ran(const std::string& job);
    /// A worker was killed: what it has leased must run again before long.
    void killed(const Uid& worker);
    /// A worker of jobs has ended in an orderly way, in which nothing came between: it has no lease
    /// any more.
    void must_have_no_lease(const Uid& worker) const;

    /// Ends the world when a job has waited too long since its worker died, or since it was its
    /// turn again.
    void check_orphans();
    /// Everybody of a kind of worker was away until now: orphans of their queue had to wait.
    void excuse(const std::string& queue);

    /// What it knows of jobs that kill whoever does them.
    [[nodiscard]] const DoomedJobs& doomed() const noexcept { return doomed_; }
    /// What it knows of timers.
    [[nodiscard]] TimerAccounts& timers() noexcept { return timers_; }
    /// What it knows of recurring jobs.
    [[nodiscard]] RecurringAccounts& recurring() noexcept { return recurring_; }
    /// What it knows of the rate limits of the queue of jobs.
    [[nodiscard]] RateAccounts& rates() noexcept { return rates_; }
    /// What it knows of batches of jobs.
    [[nodiscard]] JobBatchAccounts& job_batches() noexcept { return job_batches_; }

    // --- What must be so ------------------------------------------------------------------------

    /// Jobs of the queue of jobs: those that must exist, and those that may.
    struct JobCount {
        std::uint64_t certain = 0;
        std::uint64_t possible = 0;
    };
    [[nodiscard]] JobCount jobs() const;

    /// What is owed and has not happened; empty when all accounts are settled. `dropped` are the
    /// events that were dropped for want of space, by subscriber.
    [[nodiscard]] std::string debts(const std::map<std::string, std::int64_t>& dropped) const;

    /// Whether a batch was DEAD at a time, or may have been.
    [[nodiscard]] bool may_have_died(const Uid& batch) const;

    /// Events that the store said it dropped; and whether there may be more.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
    [[nodiscard]] bool drops_in_doubt() const noexcept { return drops_in_doubt_; }

private:
    struct Holder {
        Lease lease;
        std::uint64_t since = 0;  // The number of the submission that acquired it.
    };

    enum class Existence { unknown, present, absent };

    struct JobAccount {
        Existence existence = Existence::unknown;
        std::optional<Holder> holder{};
        TimePoint not_before = TimePoint::min();
        bool owed = false;
        std::uint32_t attempts = 0;  // That the store must know of.
        bool written = false;        // One of them has ended, so a crash forgets none.
        std::uint32_t failed = 0;    // The last of them that failed.
        Lease last{};                // The last lease, though it may be lost.
        bool unreported = false;     // The store may still have that, and its worker does not know.
    };

    struct Submission {
        std::vector<Step> steps;
        TimePoint now;     // As the steps say: late when they are repeated.
        TimePoint latest;  // The latest time of any step by then: what was due once stays so.
        TimePoint moment;
        std::set<Uid> silent{};  // Workers that it takes for dead.
    };

    struct SubscriberAccount {
        std::set<std::string> topics{};  // It was ever subscribed to.
        std::set<std::string> current{};
        std::uint64_t changed = 0;  // Submissions after this one find it subscribed to `current`.
        bool in_order = true;
        std::uint32_t attempts_max = 0;
        std::set<std::uint64_t> late{};  // Their batch died, or may have: they may come any time.
        std::set<std::uint64_t> delivered{};
        std::set<std::uint64_t> owed{};
    };

    /// A batch whose delivery began.
    struct BatchAccount {
        std::string subscriber{};
        MessageList messages{};
        std::uint32_t attempts = 0;  // Never fewer than the store knows of.
        bool may_be_dead = false;
    };

    [[nodiscard]] static Submitted when(std::uint64_t number, const Submission& submission) {
        return {number, submission.now, submission.moment, submission.latest};
    }

    void see(const Step& step, Submission& submission, bool refusing);
    void saw(std::uint64_t number, const Submission& submission, Step& step,
             const Outcome& outcome);

    void forget_unreported(const AcquireJobs& step);

    void replied(std::uint64_t number, const Submission&, const PublishEvent&, Done);
    void replied(std::uint64_t number, const Submission&, const Subscribe&, Done);
    void replied(std::uint64_t number, const Submission&, const PushJob&, const Pushed&);
    void replied(std::uint64_t number, const Submission&, const AcquireJobs&, const Acquired&);
    void replied(std::uint64_t number, const Submission&, const AckJob&, Settlement);
    void replied(std::uint64_t number, const Submission&, const CompleteJob&, const Completed&);
    void replied(std::uint64_t number, const Submission&, const NackJob&, Settlement);
    void replied(std::uint64_t number, const Submission&, const ReleaseJob&, Settlement);
    void replied(std::uint64_t number, const Submission&, const FailJob&, Settlement);
    void replied(std::uint64_t number, const Submission&, const RetireWorker&, const ReleasedJobs&);
    void replied(std::uint64_t number, const Submission&, const ScrubWorkers&, const ReleasedJobs&);
    void replied(std::uint64_t number, const Submission&, const BeginDelivery&,
                 const DeliveryStart&);
    void replied(std::uint64_t number, const Submission&, const SettleDelivery&, Settlement);
    void replied(std::uint64_t number, const Submission&, const RedeliverDeadBatches&, Count);
    void replied(std::uint64_t number, const Submission&, const DropOldestBatches&, Dropped);
    void replied(std::uint64_t number, const Submission&, const DeleteJob&, Deletion);
    void replied(std::uint64_t number, const Submission&, const KickJobs&, Count);
    template <class S, class R>
    void replied(std::uint64_t, const Submission&, const S&, const R&) {}

    void begin(const CompleteJob& step);
    void in_doubt(const CompleteJob& step);
    void never(const std::vector<FollowUpAccount>& follow_ups);

    /// Whether a job is there, and nobody is asking for its end.
    [[nodiscard]] bool is_certain(const JobKey& key) const;

    [[nodiscard]] static std::string name_of(const Lease& lease);
    /// Jobs of ticks may equal each other: their ids tell them apart.
    [[nodiscard]] static JobKey key_of(const Lease& lease);
    JobAccount& account_of(const Lease& lease);
    /// A worker got a job, by the submission of that number.
    void began(const Lease& lease, std::uint64_t number, JobAccount& job);
    /// The worker that has a lease says that it used it, or that it found it lost.
    void used(const Lease& lease, bool valid);
    void end_leases(const std::set<Uid>& workers, std::uint64_t before);
    void doubt(const Step& step);
    [[nodiscard]] BatchAccount* batch_of(const Lease& lease);
    void may_be_dead(BatchAccount& batch);
    void may_be_redelivered(const RedeliverDeadBatches& step);
    void forgive_deliveries();
    void gone(const Lease& lease);
    void nacked(const Lease& lease, TimePoint run_at);
    void count_attempt(JobAccount& job, const Lease& lease);
    /// The attempt of a lease does not count, or may not.
    void forget_attempt(const Lease& lease);
    /// The same of all leases of a worker.
    void forget_attempts(const Uid& worker);
    /// Any job of a queue may have been BURIED, and kicked.
    void may_be_kicked(const KickJobs& step);

    SimulationContext& context_;
    GroupAccounts groups_;
    JobDependencies dependencies_;
    std::uint64_t last_number_ = 0;
    std::map<std::uint64_t, Submission> submissions_;
    std::map<JobKey, JobAccount> jobs_;
    std::map<Uid, TimePoint> seen_;  // When the store heard of each worker last.
    std::optional<TimePoint> scrubbed_at_;
    std::map<Uid, TimePoint> spared_;  // Of these it was only assumed.
    TimePoint last_now_{};
    TimePoint latest_{};
    std::map<std::string, SubscriberAccount> subscribers_;
    std::set<std::uint64_t> refused_;  // Events.
    FollowUpAccounts follow_ups_{context_};
    DoomedJobs doomed_{context_};
    TimerAccounts timers_{context_};
    RecurringAccounts recurring_{context_};
    RateAccounts rates_;
    JobBatchAccounts job_batches_{context_};
    std::map<std::pair<std::string, std::uint64_t>, Uid> arrived_in_;  // By subscriber and event.
    std::map<Uid, BatchAccount> batches_;                              // Whose delivery began.
    std::map<JobKey, TimePoint> orphans_;             // By moment, as is what excuses them.
    std::map<std::string, TimePoint> excused_until_;  // By queue.
    std::uint64_t dropped_ = 0;
    bool drops_in_doubt_ = false;
};

}  // namespace routemaster::simulation
