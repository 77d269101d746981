#include "oracle.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

#include "core/store/delivery_job.hpp"
#include "job_worker.hpp"
#include "testing/conformance/text.hpp"

namespace routemaster::simulation {

using testing::Text;

namespace {

/// The time limit in guarantee 6 (docs/guarantees.md), without tolerance.
constexpr Duration orphan_max{5'000};

}  // namespace

Oracle::Oracle(SimulationContext& context)
    : context_{context}, groups_{context}, dependencies_{context}, rates_{context, job_queue} {}

std::string Oracle::name_of(const Lease& lease) {
    const auto batch = detail::batch_of(lease.job);
    return (batch ? "the delivery of " + std::string{batch->text()}
                  : "job " + Text::of(lease.job)) +
           " (fence " + std::to_string(lease.fence) + ")";
}

JobKey Oracle::key_of(const Lease& lease) {
    return {lease.queue, lease.queue == tick_queue ? std::to_string(lease.id) : lease.job};
}

Oracle::JobAccount& Oracle::account_of(const Lease& lease) { return jobs_[key_of(lease)]; }

std::uint64_t Oracle::submitted(std::span<const Step> steps, TimePoint now, bool refusing) {
    const auto number = ++last_number_;
    auto& submission = submissions_[number];
    latest_ = std::max({latest_, now, context_.now()});
    submission = {{steps.begin(), steps.end()}, now, latest_, context_.moment()};
    last_now_ = now;
    for (const auto& step : submission.steps) {
        const auto asked_at = when(number, submission);
        see(step, submission, refusing);
        if (!is_about_tick_timers(step)) timers_.asked(step, asked_at);
        recurring_.asked(step, asked_at);
        rates_.asked(step, asked_at, refusing);
        job_batches_.asked(step);
    }
    return number;
}

/// Records the immediate effects of a step, even without a reply.
void Oracle::see(const Step& step, Submission& submission, bool refusing) {
    const auto now = submission.now;
    if (const auto* heartbeat = std::get_if<Heartbeat>(&step)) {
        seen_[heartbeat->worker] = now;
    } else if (const auto* acquire = std::get_if<AcquireJobs>(&step); acquire && !refusing) {
        if (acquire->limit > 0) seen_[acquire->worker] = now;
    } else if (const auto* retire = std::get_if<RetireWorker>(&step); retire && !refusing) {
        seen_.erase(retire->worker);
        forget_attempts(retire->worker);
    } else if (const auto* scrub = std::get_if<ScrubWorkers>(&step); scrub && !refusing) {
        const auto last = std::exchange(scrubbed_at_, now);
        const bool was_away = last && *last < now && *last + scrub->silence / 2 <= now;
        for (auto& [worker, seen] : seen_) {
            seen = std::min(seen, now);
            if (seen + scrub->silence > now) continue;
            if (was_away && spared_[worker] != seen) {
                seen = spared_[worker] = now;
            } else {
                submission.silent.insert(worker);
            }
        }
        for (const auto& worker : submission.silent) seen_.erase(worker);
    } else if (const auto* push = std::get_if<PushJob>(&step)) {
        groups_.asked(*push);
    } else if (const auto* deletion = std::get_if<DeleteJob>(&step)) {
        dependencies_.deleting(deletion->id);
    } else if (const auto* completion = std::get_if<CompleteJob>(&step)) {
        begin(*completion);
    } else if (const auto* removal = std::get_if<RemoveSubscriber>(&step)) {
        auto& account = subscribers_[removal->token];
        account.current.clear();
        account.changed = last_number_;
        account.in_order = false;  // Batches in transit may still arrive, in any order.
        account.owed.clear();
    } else if (const auto* end = std::get_if<Unsubscribe>(&step)) {
        auto& account = subscribers_[end->token];
        account.current.erase(end->topic);
        account.changed = last_number_;
    } else if (const auto* subscribe = std::get_if<Subscribe>(&step)) {
        auto& account = subscribers_[subscribe->token];
        account.topics.insert(subscribe->topics.begin(), subscribe->topics.end());
        account.current.clear();
        account.changed = last_number_;
        const auto concurrency = subscribe->options.max_in_flight;
        if (concurrency && *concurrency > 1) account.in_order = false;
        account.attempts_max = subscribe->options.attempts_max.value_or(account.attempts_max);
    }
}

void Oracle::replied(std::uint64_t number, std::span<const Outcome> outcomes) {
    auto submission = submissions_.extract(number).mapped();
    if (outcomes.size() != submission.steps.size())
        context_.fail("a submission has fewer outcomes than steps");
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        auto& step = submission.steps[i];
        saw(number, submission, step, outcomes[i]);
        rates_.replied(step, outcomes[i], when(number, submission));
    }
}

void Oracle::saw(std::uint64_t number, const Submission& submission, Step& step,
                 const Outcome& outcome) {
    const auto asked_at = when(number, submission);
    if (!is_about_tick_timers(step)) timers_.replied(step, outcome, asked_at);
    recurring_.replied(step, outcome, asked_at);
    job_batches_.replied(step, outcome);
    if (!outcome) {
        if (outcome.error().code() == Errc::corrupted) {
            context_.fail("the store reports a damaged journal: " + outcome.error().message());
        }
        if (const auto* event = std::get_if<PublishEvent>(&step)) {
            refused_.insert(number_of(event->message));
        } else if (const auto* acquire = std::get_if<AcquireJobs>(&step)) {
            forget_unreported(*acquire);
        } else if (const auto* completion = std::get_if<CompleteJob>(&step)) {
            never(follow_ups_.refuted(*completion));
        }
        return;
    }
    std::visit(
        [&](const auto& asked) {
            using S = std::decay_t<decltype(asked)>;
            replied(number, submission, asked, outcome->as<typename S::Reply>());
        },
        step);
}

/// Removes leases possibly dropped by the store. After a lost reply, the worker does not know its
/// leases. The next request would report the leases again. After an error of this request, however,
/// the store may drop them. The worker knows all leases up to `known` and `newest`.
void Oracle::forget_unreported(const AcquireJobs& step) {
    const auto known = std::max(step.known, step.newest);
    for (auto& [key, job] : jobs_) {
        if (!job.holder || job.holder->lease.worker != step.worker) continue;
        if (key.first != step.queue || job.holder->lease.fence <= known) continue;
        job.holder.reset();
        job.unreported = true;
    }
}

void Oracle::replied(std::uint64_t number, const Submission&, const PublishEvent& step, Done) {
    const auto event = number_of(step.message);
    for (auto& [token, account] : subscribers_) {
        if (!account.current.contains(step.topic) || number <= account.changed) continue;
        if (!account.delivered.contains(event)) account.owed.insert(event);
    }
}

void Oracle::replied(std::uint64_t number, const Submission&, const Subscribe& step, Done) {
    auto& account = subscribers_[step.token];
    if (account.changed == number) account.current = {step.topics.begin(), step.topics.end()};
}

void Oracle::replied(std::uint64_t number, const Submission& submission, const PushJob& step,
                     const Pushed& pushed) {
    if (step.queue == doomed_queue) return doomed_.pushed(pushed);
    if (step.queue == tick_queue) return;
    dependencies_.pushed(step, pushed);
    auto& job = jobs_[{step.queue, step.job}];
    if (pushed == PushOutcome::duplicate) {
        if (job.existence == Existence::absent) {
            context_.fail("a push returned 'duplicate' after the equal job was done: " +
                          Text::of(step.job));
        }
        return;
    }
    if (job.existence == Existence::present) {
        context_.fail("a push was accepted while an equal job was in the queue: " +
                      Text::of(step.job));
    }
    job = {.existence = Existence::present, .not_before = step.run_at, .owed = true};
    groups_.pushed(step, submission.now, number, last_number_);
}

void Oracle::replied(std::uint64_t number, const Submission& submission, const AcquireJobs& step,
                     const Acquired& acquired) {
    for (const auto fence : acquired.held) {
        const bool has_it = std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& each) {
            const auto& holder = each.second.holder;
            return holder && holder->lease.fence == fence && holder->lease.worker == step.worker;
        });
        if (!has_it)
            context_.fail("the store lists a lost lease as held: fence " + std::to_string(fence));
    }
    for (const auto& lease : acquired.leases) {
        auto& job = account_of(lease);
        context_.note(std::string{lease.worker.text()} + " acquired " + name_of(lease));
        if (job.holder && job.holder->lease == lease) continue;
        if (job.holder) {
            context_.fail("two workers have leased " + name_of(lease) + ": " +
                          std::string{job.holder->lease.worker.text()} + " and " +
                          std::string{lease.worker.text()});
        }
        if (job.existence == Existence::absent) {
            context_.fail("a completed job was leased again: " + name_of(lease));
        }
        if (submission.latest < job.not_before) {
            context_.fail("a job was leased before its due time: " + name_of(lease));
        }
        began(lease, number, job);
    }
}

void Oracle::began(const Lease& lease, std::uint64_t number, JobAccount& job) {
    const auto certain = [this](const JobKey& key) { return is_certain(key); };
    const auto own_key = key_of(lease);
    if (lease.queue == doomed_queue) {
        doomed_.acquired(lease);
    } else if (lease.queue == tick_queue) {
        recurring_.acquired(lease);
    } else {
        dependencies_.acquired(lease, certain);
        job_batches_.acquired(lease);
    }
    if (lease.queue == job_queue) rates_.acquired(lease, number);
    never(follow_ups_.seen(own_key, lease.id));
    job.existence = Existence::present;
    job.not_before = TimePoint::min();
    job.holder = Holder{lease, number};
    job.unreported = false;
    groups_.acquired(own_key, certain);
    orphans_.erase(own_key);
    count_attempt(job, lease);
}

bool Oracle::is_certain(const JobKey& key) const {
    const auto found = jobs_.find(key);
    if (found == jobs_.end() || found->second.existence != Existence::present) return false;
    const auto ends = [&key](const Lease& lease) { return key_of(lease) == key; };
    for (const auto& [number, submission] : submissions_) {
        for (const auto& step : submission.steps) {
            const auto* ack = std::get_if<AckJob>(&step);
            const auto* completion = std::get_if<CompleteJob>(&step);
            if (ack != nullptr && ends(ack->lease)) return false;
            if (completion != nullptr && ends(completion->lease)) return false;
            const auto* deletion = std::get_if<DeleteJob>(&step);
            if (deletion != nullptr && dependencies_.key_of(deletion->id) == key) return false;
        }
    }
    return true;
}

void Oracle::count_attempt(JobAccount& job, const Lease& lease) {
    if (lease.id == 0 || job.last == lease) return;
    if (job.last.id != lease.id) {
        job.attempts = 0;
        job.written = false;
        job.failed = 0;
    }
    job.last = lease;
    if (lease.attempt <= job.attempts) {
        context_.fail("a lease has an attempt number that was used before: " +
                      std::to_string(lease.attempt) + " of " + name_of(lease));
    }
    job.attempts = lease.attempt;
}

void Oracle::forget_attempt(const Lease& lease) {
    auto& job = account_of(lease);
    if (lease.attempt > 0) job.attempts = std::min(job.attempts, lease.attempt - 1);
}

void Oracle::forget_attempts(const Uid& worker) {
    for (const auto& [key, job] : jobs_) {
        const bool may_have_it = job.holder || job.unreported;
        if (may_have_it && job.last.worker == worker) forget_attempt(job.last);
    }
}

/// A kicked job is due, and its attempts start at 0.
void Oracle::may_be_kicked(const KickJobs& step) {
    for (auto& [key, job] : jobs_) {
        if (key.first != step.queue) continue;
        job.attempts = 0;
        job.failed = 0;
        job.not_before = TimePoint::min();
    }
}

void Oracle::used(const Lease& lease, bool valid) {
    auto& job = account_of(lease);
    const bool leased = job.holder && job.holder->lease == lease;
    if (valid && !leased) context_.fail("the store accepted a lost lease: " + name_of(lease));
    if (!valid && leased) context_.fail("the store rejected a valid lease: " + name_of(lease));
    if (valid) job.holder.reset();
}

void Oracle::gone(const Lease& lease) {
    auto& job = account_of(lease);
    job.existence = Existence::absent;
    job.not_before = TimePoint::min();
    groups_.gone(key_of(lease));
    orphans_.erase(key_of(lease));
}

/// The job is no longer an orphan of a dead worker: it now waits for its due time.
void Oracle::nacked(const Lease& lease, TimePoint run_at) {
    account_of(lease).not_before = run_at;
    orphans_.erase(key_of(lease));
}

void Oracle::replied(std::uint64_t, const Submission&, const AckJob& step, Settlement outcome) {
    used(step.lease, outcome == Settlement::settled);
    if (outcome != Settlement::settled) return;
    gone(step.lease);
    job_batches_.done(step.lease);
    if (step.lease.queue == tick_queue) recurring_.done(step.lease);
}

void Oracle::replied(std::uint64_t, const Submission&, const DeleteJob& step, Deletion deletion) {
    const auto key = dependencies_.key_of(step.id);
    if (deletion != Deletion::deleted || !key) return;
    jobs_[*key] = {.existence = Existence::absent};
}

void Oracle::replied(std::uint64_t, const Submission&, const KickJobs& step, Count count) {
    if (count.value > 0) may_be_kicked(step);
}

void Oracle::replied(std::uint64_t number, const Submission& submission, const CompleteJob& step,
                     const Completed& completed) {
    replied(number, submission, AckJob{step.lease}, completed.settlement);
    if (completed.settlement != Settlement::settled) return never(follow_ups_.refuted(step));
    follow_ups_.happened(step, completed);
    for (std::size_t i = 0; i < step.pushes.size(); ++i) {
        replied(number, submission, step.pushes[i], completed.pushed[i]);
    }
    for (const auto& publication : step.publications) {
        replied(number, submission, publication, Done{});
    }
}

/// Records that the follow-ups may exist from now on.
void Oracle::begin(const CompleteJob& step) {
    for (const auto& publication : step.publications) {
        const auto event = number_of(publication.message);
        refused_.erase(event);
        // The number of the event was assigned long before its publication. The event may therefore
        // arrive in any order.
        for (auto& [token, account] : subscribers_) account.late.insert(event);
    }
    for (const auto& key : follow_ups_.begin(step)) jobs_[key].existence = Existence::unknown;
}

void Oracle::in_doubt(const CompleteJob& step) {
    const auto& holder = account_of(step.lease).holder;
    if (holder && holder->lease == step.lease) {
        follow_ups_.doubt(step);
    } else {
        never(follow_ups_.refuted(step));
    }
}

void Oracle::never(const std::vector<FollowUpAccount>& follow_ups) {
    for (const auto& follow_up : follow_ups) {
        jobs_[follow_up.job].existence = Existence::absent;
        refused_.insert(follow_up.events.begin(), follow_up.events.end());
    }
}

void Oracle::replied(std::uint64_t, const Submission&, const NackJob& step, Settlement outcome) {
    used(step.lease, outcome == Settlement::settled);
    if (outcome != Settlement::settled) return;
    nacked(step.lease, step.run_at);
    account_of(step.lease).written = true;
}

void Oracle::replied(std::uint64_t, const Submission&, const ReleaseJob& step, Settlement outcome) {
    used(step.lease, outcome == Settlement::settled);
    if (outcome != Settlement::settled) return;
    nacked(step.lease, step.run_at);
    forget_attempt(step.lease);
}

/// Only jobs of batches have a maximum of attempts. Further jobs may fail without limit.
void Oracle::replied(std::uint64_t, const Submission&, const FailJob& step, Settlement outcome) {
    const bool last =
        step.lease.queue == batched_queue && step.lease.attempt >= batched_attempts_max;
    if (outcome == Settlement::buried && !last)
        context_.fail("a job was BURIED before its last attempt: " + name_of(step.lease));
    if (outcome == Settlement::settled && last)
        context_.fail("a job was not BURIED after its last attempt: " + name_of(step.lease));
    used(step.lease, outcome != Settlement::lease_lost);
    if (outcome == Settlement::lease_lost) return;
    nacked(step.lease, last ? TimePoint::min() : step.run_at);
    auto& job = account_of(step.lease);
    job.written = true;
    job.failed = step.lease.attempt;
}

void Oracle::replied(std::uint64_t number, const Submission&, const RetireWorker& step,
                     const ReleasedJobs& released) {
    context_.note(std::string{step.worker.text()} + " released " + std::to_string(released.jobs));
    // The worker may have acquired jobs after the request, so its attempts may not count.
    forget_attempts(step.worker);
    end_leases({step.worker}, number);
}

void Oracle::replied(std::uint64_t number, const Submission& submission, const ScrubWorkers&,
                     const ReleasedJobs& released) {
    for (const auto& worker : submission.silent) {
        context_.note(std::string{worker.text()} + " is declared dead");
    }
    if (released.jobs > 0) {
        context_.note(std::to_string(released.jobs) + " jobs of dead workers were requeued");
        rates_.stirred();
    }
    end_leases(submission.silent, number);
}

void Oracle::end_leases(const std::set<Uid>& workers, std::uint64_t before) {
    if (workers.empty()) return;
    for (auto& [key, job] : jobs_) {
        if (!job.holder || job.holder->since > before) continue;
        if (workers.contains(job.holder->lease.worker)) job.holder.reset();
    }
}

void Oracle::crashed() {
    for (const auto& [number, submission] : std::exchange(submissions_, {})) {
        for (const auto& step : submission.steps) {
            doubt(step);
            doomed_.doubt(step);
            if (!is_about_tick_timers(step)) timers_.doubt(step, when(number, submission));
            recurring_.doubt(step);
            rates_.doubt(step, number);
            job_batches_.doubt(step);
        }
    }
    timers_.crashed();
    rates_.crashed();
    for (auto& [key, job] : jobs_) {
        if (job.attempts == 1 && !job.written) job.attempts = 0;
        job.holder.reset();
        job.unreported = false;
    }
    seen_.clear();
    scrubbed_at_.reset();
}

/// Records a step without a reply at power loss. Its effect is unknown.
void Oracle::doubt(const Step& step) {
    std::visit(
        [this](const auto& asked) {
            using S = std::decay_t<decltype(asked)>;
            if constexpr (std::is_same_v<S, PushJob>) {
                auto& job = jobs_[{asked.queue, asked.job}];
                if (job.existence == Existence::absent) job.existence = Existence::unknown;
            } else if constexpr (std::is_same_v<S, AckJob> || std::is_same_v<S, NackJob> ||
                                 std::is_same_v<S, CompleteJob> || std::is_same_v<S, ReleaseJob> ||
                                 std::is_same_v<S, FailJob> || std::is_same_v<S, BeginDelivery> ||
                                 std::is_same_v<S, SettleDelivery>) {
                auto& job = account_of(asked.lease);
                if (job.existence == Existence::present) job.existence = Existence::unknown;
                if constexpr (std::is_same_v<S, ReleaseJob>) forget_attempt(asked.lease);
                if constexpr (std::is_same_v<S, CompleteJob>) in_doubt(asked);
                if constexpr (std::is_same_v<S, AckJob> || std::is_same_v<S, CompleteJob>) {
                    recurring_.may_be_done(asked.lease);
                }
                orphans_.erase(key_of(asked.lease));
                auto* batch = batch_of(asked.lease);
                if (batch != nullptr && std::is_same_v<S, SettleDelivery>) may_be_dead(*batch);
            } else if constexpr (std::is_same_v<S, RedeliverDeadBatches>) {
                may_be_redelivered(asked);
            } else if constexpr (std::is_same_v<S, KickJobs>) {
                may_be_kicked(asked);
            } else if constexpr (std::is_same_v<S, DeleteJob>) {
                if (const auto key = dependencies_.key_of(asked.id)) {
                    auto& job = jobs_[*key];
                    if (job.existence == Existence::present) job.existence = Existence::unknown;
                    job.owed = false;
                }
            } else if constexpr (std::is_same_v<S, DropOldestBatches>) {
                drops_in_doubt_ = true;
                forgive_deliveries();
            }
        },
        step);
}

void Oracle::read_again() {
    if (context_.clock_was_set()) orphans_.clear();
    rates_.read_again();
}

void Oracle::reloaded() {
    read_again();
    seen_.clear();
    scrubbed_at_.reset();
    for (const auto& [key, job] : jobs_) {
        if (job.holder) seen_[job.holder->lease.worker] = last_now_;
    }
}

void Oracle::ran(const std::string& job) {
    for (auto& [key, account] : jobs_) {
        if (key.second == job) account.owed = false;
    }
}

/// After two attempts with the death of their workers, a job is isolated and may have to wait.
/// Isolated jobs are not checked.
void Oracle::killed(const Uid& worker) {
    for (const auto& [key, job] : jobs_) {
        if (!job.holder || job.holder->lease.worker != worker) continue;
        if (job.holder->lease.attempt < job.failed + 2) orphans_[key] = context_.moment();
    }
}

void Oracle::must_have_no_lease(const Uid& worker) const {
    for (const auto& [key, job] : jobs_) {
        if (!job.holder || job.holder->lease.worker != worker) continue;
        context_.fail("a worker that has ended still has a lease: " + name_of(job.holder->lease));
    }
}

void Oracle::check_orphans() {
    const auto may_be_there = [this](const JobKey& key) {
        const auto found = jobs_.find(key);
        return found != jobs_.end() && found->second.existence != Existence::absent;
    };
    for (auto& [key, since] : orphans_) {
        if (groups_.may_wait(key, may_be_there)) since = context_.moment();
        auto from = std::max(since, context_.disturbed_until);
        const auto excused = excused_until_.find(key.first);
        if (excused != excused_until_.end()) from = std::max(from, excused->second);
        if (context_.moment() > from + orphan_max) {
            context_.fail("a job has not run within 5 s of the death of its worker: " +
                          Text::of(key.second));
        }
    }
}

void Oracle::excuse(const std::string& queue) { excused_until_[queue] = context_.moment(); }

Oracle::JobCount Oracle::jobs() const {
    JobCount count;
    for (const auto& [key, job] : jobs_) {
        if (key.first != job_queue) continue;
        if (job.existence == Existence::present) ++count.certain;
        if (job.existence != Existence::absent) ++count.possible;
    }
    return count;
}

std::string Oracle::debts(const std::map<std::string, std::int64_t>& dropped) const {
    if (auto debt = follow_ups_.debt(); !debt.empty()) return debt;
    if (auto debt = recurring_.debt(); !debt.empty()) return debt;
    if (auto debt = job_batches_.debt(); !debt.empty()) return debt;
    for (const auto& [key, job] : jobs_) {
        if (job.owed) return "a job was accepted, but never done: " + Text::of(key.second);
    }
    for (const auto& [token, account] : subscribers_) {
        const auto given_up = dropped.find(token);
        const auto count = given_up == dropped.end() ? 0 : given_up->second;
        if (static_cast<std::int64_t>(account.owed.size()) <= count) continue;
        return std::to_string(account.owed.size()) + " accepted events never reached " + token +
               ", of which " + std::to_string(count) + " were dropped; the first is event " +
               std::to_string(*account.owed.begin());
    }
    return {};
}

}  // namespace routemaster::simulation
