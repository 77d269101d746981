/// @file
/// `Oracle`: derives the expected behaviour of the store from its replies.

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
#include "routemaster/store/step.hpp"
#include "routemaster/time.hpp"
#include "simulation_context.hpp"
#include "submitted.hpp"
#include "timer_accounts.hpp"

namespace routemaster::simulation {

/// Model of the store. It records requests and replies, in the order of the replies. Fails the
/// simulation when a reply contradicts an earlier reply, or when an effect on the outside
/// contradicts the replies. It does not depend on how the store works. A step without a reply at
/// power loss is in doubt, because its effect is unknown. Not thread safe.
class Oracle {
public:
    explicit Oracle(SimulationContext& context);

    /// Called before steps are performed. Returns the number of the submission. `refusing` means
    /// that the disk fails and the store rejects changes.
    std::uint64_t submitted(std::span<const Step> steps, TimePoint now, bool refusing);
    void replied(std::uint64_t number, std::span<const Outcome> outcomes);

    /// Called at power loss. All leases have ended, and steps without a reply are in doubt.
    void crashed();
    /// Called when the store has read its journal. If the clock was set back, a job that was due
    /// may now have to wait.
    void read_again();
    /// Called when a commit failed and the store has read its journal again. Steps without a reply
    /// are undone, and the silence of workers is measured from now.
    void reloaded();

    void arrived(const std::string& subscriber, const Uid& batch, const MessageList& messages);
    [[nodiscard]] std::vector<JobId> draw_dependencies() { return dependencies_.draw(); }

    void ran(const std::string& job);
    /// Called when a worker was killed. Its leased jobs must be leased again soon.
    void killed(const Uid& worker);
    /// Fails the simulation if a worker still has a lease after an orderly stop. To be called only
    /// if no fault disturbed the stop.
    void must_have_no_lease(const Uid& worker) const;

    /// Fails the simulation when a job waited too long after its worker died, or after it was again
    /// the next job of its group.
    void check_orphans();
    /// Called when all workers of a queue were absent until now. Orphaned jobs of the queue had to
    /// wait for them.
    void excuse(const std::string& queue);

    [[nodiscard]] const DoomedJobs& doomed() const noexcept { return doomed_; }
    [[nodiscard]] TimerAccounts& timers() noexcept { return timers_; }
    [[nodiscard]] RecurringAccounts& recurring() noexcept { return recurring_; }
    [[nodiscard]] RateAccounts& rates() noexcept { return rates_; }
    [[nodiscard]] JobBatchAccounts& job_batches() noexcept { return job_batches_; }

    /// Counts of `job_queue`: certainly existing jobs, and possibly existing jobs.
    struct JobCount {
        std::uint64_t certain = 0;
        std::uint64_t possible = 0;
    };
    [[nodiscard]] JobCount jobs() const;

    /// Describes an expected effect that has not happened. Empty if absent. `dropped` is the number
    /// of events dropped because of limited space, by subscriber.
    [[nodiscard]] std::string debts(const std::map<std::string, std::int64_t>& dropped) const;

    /// Whether a batch was or may have been DEAD at some time.
    [[nodiscard]] bool may_have_died(const Uid& batch) const;

    /// The number of events that the store reported as dropped, and whether more may have been
    /// dropped.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
    [[nodiscard]] bool drops_in_doubt() const noexcept { return drops_in_doubt_; }

private:
    struct Holder {
        Lease lease;
        std::uint64_t since = 0;  // The number of the submission that acquired the lease.
    };

    enum class Existence { unknown, present, absent };

    struct JobAccount {
        Existence existence = Existence::unknown;
        std::optional<Holder> holder{};
        TimePoint not_before = TimePoint::min();
        bool owed = false;
        std::uint32_t attempts = 0;  // At least as many attempts as the store has counted.
        bool written = false;        // An attempt was settled, so a crash loses no attempt.
        std::uint32_t failed = 0;    // The last failed attempt.
        Lease last{};                // The last lease; it may be lost.
        bool unreported = false;     // The store may have a lease unknown to the worker.
    };

    struct Submission {
        std::vector<Step> steps;
        TimePoint now;     // The time in the steps. It is old when steps are repeated.
        TimePoint latest;  // The latest time of all steps so far: due jobs stay due.
        TimePoint moment;
        std::set<Uid> silent{};  // Workers that these steps declare dead.
    };

    struct SubscriberAccount {
        std::set<std::string> topics{};  // All topics to which the subscriber ever subscribed.
        std::set<std::string> current{};
        std::uint64_t changed = 0;  // The submission since which `current` applies.
        bool in_order = true;
        std::uint32_t attempts_max = 0;
        // Events in batches that may have died. They may arrive in any order.
        std::set<std::uint64_t> late{};
        std::set<std::uint64_t> delivered{};
        std::set<std::uint64_t> owed{};
    };

    struct BatchAccount {
        std::string subscriber{};
        MessageList messages{};
        std::uint32_t attempts = 0;  // At least as many attempts as the store has counted.
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

    [[nodiscard]] bool is_certain(const JobKey& key) const;

    [[nodiscard]] static std::string name_of(const Lease& lease);
    /// The key of a job. Jobs of ticks may have equal bytes, so their keys contain the ids.
    [[nodiscard]] static JobKey key_of(const Lease& lease);
    JobAccount& account_of(const Lease& lease);
    void began(const Lease& lease, std::uint64_t number, JobAccount& job);
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
    /// Records that the attempt under a lease is not counted, or may not be counted.
    void forget_attempt(const Lease& lease);
    void forget_attempts(const Uid& worker);
    /// Any job of the queue may have been BURIED and then kicked.
    void may_be_kicked(const KickJobs& step);

    SimulationContext& context_;
    GroupAccounts groups_;
    JobDependencies dependencies_;
    std::uint64_t last_number_ = 0;
    std::map<std::uint64_t, Submission> submissions_;
    std::map<JobKey, JobAccount> jobs_;
    std::map<Uid, TimePoint> seen_;
    std::optional<TimePoint> scrubbed_at_;
    std::map<Uid, TimePoint> spared_;  // Workers granted a grace period by a scrub.
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
    std::map<Uid, BatchAccount> batches_;
    // Since when each job has been an orphan; see `excused_until_`.
    std::map<JobKey, TimePoint> orphans_;
    std::map<std::string, TimePoint> excused_until_;  // Until when each queue had no worker.
    std::uint64_t dropped_ = 0;
    bool drops_in_doubt_ = false;
};

}  // namespace routemaster::simulation
