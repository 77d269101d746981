#include "core/jobs/work/lease_loop.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/jobs/work/released_jobs_log.hpp"
#include "routemaster/error.hpp"
#include "routemaster/store/perform.hpp"

namespace routemaster::detail {
namespace {

Settlement settlement_in(const Reply& reply) {
    const auto* completed = std::get_if<Completed>(&reply);
    return completed != nullptr ? completed->settlement : std::get<Settlement>(reply);
}

}  // namespace

void check_times(Duration heartbeat_interval, Duration worker_silence, Duration poll_interval,
                 Duration wake_grace) {
    const auto check = [](const char* name, Duration least, Duration time) {
        constexpr Duration day{86'400'000};
        if (time >= least && time <= day) return;
        throw Failure{Error{Errc::invalid, std::string{name} + ": must be from " +
                                               std::to_string(least.count()) + " ms to a day"}};
    };
    check("heartbeat_interval", Duration{1}, heartbeat_interval);
    check("worker_silence", heartbeat_interval + Duration{1}, worker_silence);
    check("poll_interval", Duration{1}, poll_interval);
    check("wake_grace", Duration{0}, wake_grace);
}

LeaseLoop::LeaseLoop(Store& store, LeaseLoopOptions options, Owner& owner)
    : store_{store},
      options_{std::move(options)},
      owner_{owner},
      schedule_{options_.poll_interval, options_.wake_grace},
      heartbeats_{options_.heartbeat_interval, options_.worker_silence} {
    check_times(options_.heartbeat_interval, options_.worker_silence, options_.poll_interval,
                options_.wake_grace);
    const auto wake = [event_queue = events_.shared()] { event_queue->wake(); };
    watches_.push_back(store.watch(options_.queue, wake));
    for (const auto& name : options_.further_watches) watches_.push_back(store.watch(name, wake));
}

// --- A poll -------------------------------------------------------------------------------------

void LeaseLoop::receive(TimePoint now) {
    const bool set_back = now < now_;
    now_ = now;
    if (set_back) clock_set_back();
    auto events = events_->take();
    if (events.woken) schedule_.wake();
    for (auto& event : events.events) {
        std::visit([this](auto& any) { on(any); }, event);
    }
    if (events.woken) unannounced_.reset();
    if (unannounced_ && now_ >= unannounced_->until) report_missed();
    retry_due();
}

TimePoint LeaseLoop::send(std::size_t free) {
    free_ = free;
    if (free == 0) schedule_.busy();
    if (closing() && !retiring_ && !awaiting()) wind_up();
    stay_alive();
    // Settlements are submitted first, because the following acquisition can then acquire jobs made
    // READY by the settlements. The acquisition is a separate submission, and its reply does not
    // wait until the settlements are durable.
    post_settlements();
    post(std::exchange(begins_.steps, {}), Begun{std::exchange(begins_.ids, {}), {}});
    post_released();
    post_others();
    if (now_ >= retire_at_) retire();
    ask_for_jobs();
    {
        const std::lock_guard lock{trouble_mutex_};
        trouble_ = schedule_.trouble(now_);
    }
    return events_->empty() ? next_poll() : now_;
}

TimePoint LeaseLoop::next_poll() const {
    if (retiring_) return retire_at_;
    auto next = std::min(heartbeats_.next(), released_.next());
    if (now_ < schedule_.trouble_at()) next = std::min(next, schedule_.trouble_at());
    if (!retries_.empty()) next = std::min(next, retries_.begin()->first);
    if (unannounced_) next = std::min(next, unannounced_->until);
    if (closing()) {
        return std::min(next, !over(now_) ? *close_at_ : now_ < settle_by_ ? settle_by_ : never);
    }
    return free_ > 0 ? std::min(next, schedule_.next()) : next;
}

std::optional<std::string> LeaseLoop::trouble() const {
    const std::lock_guard lock{trouble_mutex_};
    return trouble_;
}

// --- Acquisition --------------------------------------------------------------------------------

AcquireJobs LeaseLoop::acquisition(std::size_t limit) const {
    return {.queue = options_.queue,
            .worker = options_.worker,
            .limit = static_cast<std::uint32_t>(std::min(limit, options_.acquired_max)),
            .known = asks_for_all_ ? 0 : newest_fence_,
            .newest = newest_fence_,
            .destinations = owner_.destinations()};
}

void LeaseLoop::ask_for_jobs() {
    if (closing() || (free_ == 0 && !asks_for_all_) || !schedule_.due(now_)) return;
    schedule_.asked(now_);
    auto step = acquisition(std::max<std::size_t>(free_, 1));
    // No wake-up announced jobs for a destination that was added since the last request.
    const auto known =
        std::exchange(destinations_, step.destinations ? step.destinations->size() : 0);
    step.explain = schedule_.unannounced() && known == destinations_;
    asked_ = step.limit;
    submit(store_, std::move(step), now_,
           [event_queue = events_.shared(), unannounced = step.explain,
            all = std::exchange(asks_for_all_, false)](Result<Acquired> reply) {
               event_queue->put(GotJobs{std::move(reply), unannounced, all});
           });
}

void LeaseLoop::on(GotJobs& got) {
    asked_ = 0;
    if (!got.acquired) {
        asks_for_all_ = asks_for_all_ || got.all;
        const auto why = got.acquired.error().message();
        if (schedule_.refused(now_, why)) warn("cannot acquire jobs: " + why);
        return owner_.not_acquired(got.acquired.error());
    }
    auto& leases = got.acquired->leases;
    schedule_.answered(now_, !leases.empty(), got.acquired->next_due);
    if (asks_for_all_) schedule_.ask_at(now_);
    if (got.all) {
        find_lost(got);
        may_have_lost_ = asks_for_all_;
    }
    // A wake-up that arrived before the reply announced the jobs in the reply.
    const bool unannounced = got.unannounced && schedule_.unannounced();
    if (unannounced && !leases.empty()) suspect(got.acquired->explained, leases.size());
    for (auto& lease : leases) take(std::move(lease));
}

void LeaseLoop::suspect(const std::vector<JobExplanation>& explained, std::size_t jobs) {
    auto why = explained.empty() ? ""
                                 : "job " + std::to_string(explained.front().status.id) + ": " +
                                       to_text(explained.front());
    unannounced_ = Unannounced{jobs, std::move(why), saturating_add(now_, wake_up_delay_max)};
}

void LeaseLoop::report_missed() {
    const auto missed = *std::exchange(unannounced_, std::nullopt);
    warn("queue '" + options_.queue + "' had " + std::to_string(missed.jobs) +
         " READY jobs and an idle worker, but the worker was not woken" +
         (missed.why.empty() ? "" : "; " + missed.why));
    others_.emplace_back(AddToCounters{{{{"wakeups.missed", {{"queue", options_.queue}}},
                                         static_cast<std::int64_t>(missed.jobs)}}});
}

void LeaseLoop::on(Heard& heard) {
    if (heartbeats_.heard(heard.at, now_) && options_.finds_lost) {
        // A scrub may have ended leases of this worker. The next request asks for all leases of the
        // worker, to find the lost ones.
        asks_for_all_ = may_have_lost_ = true;
        schedule_.ask_at(now_);
    }
    if (!options_.finds_lost) return;
    for (const auto fence : heard.cancelled) {
        const auto found = std::find_if(leased_.begin(), leased_.end(), [fence](const auto& any) {
            return any.second.lease.fence == fence;
        });
        if (found != leased_.end() && !found->second.settlement) owner_.cancelled(found->first);
    }
}

bool LeaseLoop::knows_leases() const noexcept {
    return !may_have_lost_ && heartbeats_.certainly_alive(now_);
}

void LeaseLoop::find_lost(GotJobs& got) {
    const auto& held = got.acquired->held;
    const std::unordered_set<std::uint64_t> fences{held.begin(), held.end()};
    std::vector<Id> gone;
    for (const auto& [id, leased] : leased_) {
        if (!leased.settlement && !fences.contains(leased.lease.fence)) gone.push_back(id);
    }
    for (const auto id : gone) {
        owner_.lost(id);
        forget(id);
    }
}

void LeaseLoop::take(Lease lease) {
    newest_fence_ = std::max(newest_fence_, lease.fence);
    if (retiring_ || over(now_)) return released_.add(std::move(lease), now_);
    const auto id = ++last_id_;
    leased_bytes_ += lease.job.size();
    const auto& leased = leased_.emplace(id, Leased{.lease = std::move(lease)}).first->second;
    owner_.acquired(id, leased.lease);
}

// --- Steps about leases -------------------------------------------------------------------------

void LeaseLoop::begin(Id id, Step step) {
    begins_.ids.push_back(id);
    begins_.steps.push_back(std::move(step));
}

void LeaseLoop::on(Begun& begun) {
    Refusals refusals;
    for (std::size_t i = 0; i < begun.ids.size(); ++i) {
        const auto id = begun.ids[i];
        if (!leased_.contains(id)) continue;
        auto& outcome = begun.outcomes[i];
        outcome ? owner_.begun(id, std::move(outcome)) : refused(id, outcome.error(), refusals);
    }
    report(refusals);
}

void LeaseLoop::settle(Id id, Step step) {
    auto& leased = leased_.at(id);
    if (!leased.settlement) settling_bytes_ += leased.lease.job.size();
    leased.settlement = std::move(step);
    settle_by_ = std::max(settle_by_, saturating_add(now_, settle_timeout));
    send_settlement(id);
}

void LeaseLoop::send_settlement(Id id) {
    unsent_.push_back(id);
    // The settlement may make further jobs of the queue READY at once, so the loop requests jobs.
    schedule_.ask_at(now_);
}

/// Submits settlements with at most `job_slice_bytes_max` bytes of jobs, including settlements
/// without a reply. The remaining settlements are submitted after the reply. Meanwhile the store
/// can perform steps of other clients.
void LeaseLoop::post_settlements() {
    Settled event;
    std::vector<Step> steps;
    event.ids.reserve(unsent_.size());
    steps.reserve(unsent_.size());
    for (; !unsent_.empty(); unsent_.pop_front()) {
        const auto leased = leased_.find(unsent_.front());
        if (leased == leased_.end()) continue;
        const auto size = leased->second.lease.job.size();
        const auto before = unanswered_bytes_ + event.bytes;
        if (before > 0 && before + size > job_slice_bytes_max) break;
        event.bytes += size;
        event.ids.push_back(leased->first);
        steps.push_back(*leased->second.settlement);
    }
    unanswered_bytes_ += event.bytes;
    post(std::move(steps), std::move(event));
}

void LeaseLoop::on(Settled& settled) {
    unanswered_bytes_ -= settled.bytes;
    Refusals refusals;
    for (std::size_t i = 0; i < settled.ids.size(); ++i) {
        const auto id = settled.ids[i];
        if (!leased_.contains(id)) continue;
        const auto& outcome = settled.outcomes[i];
        if (outcome) {
            // The store makes progress, so the timeout for the remaining settlements restarts.
            settle_by_ = std::max(settle_by_, saturating_add(now_, settle_timeout));
            owner_.settled(id, settlement_in(*outcome));
            drop(leased_.find(id));
        } else {
            refused(id, outcome.error(), refusals);
        }
    }
    report(refusals);
}

void LeaseLoop::refused(Id id, const Error& error, Refusals& refusals) {
    if (is_final_refusal(error)) return owner_.unfit(id, error);
    auto& leased = leased_.at(id);
    if (leased.settlement && !std::exchange(leased.settlement_refused, true)) ++refused_;
    if (leased.refusals == 0 && ++refusals.jobs == 1) refusals.why = error.message();
    retries_.emplace(now_ + refusal_backoff(leased.refusals++), id);
}

void LeaseLoop::report(const Refusals& refusals) const {
    if (refusals.jobs == 0) return;
    const auto jobs = refusals.jobs == 1 ? "" : " (for " + std::to_string(refusals.jobs) + " jobs)";
    warn("the store failed: " + refusals.why + jobs);
}

void LeaseLoop::retry_due() {
    while (!retries_.empty() && retries_.begin()->first <= now_) {
        const auto id = retries_.begin()->second;
        retries_.erase(retries_.begin());
        const auto leased = leased_.find(id);
        if (leased == leased_.end()) continue;
        leased->second.settlement ? send_settlement(id) : owner_.begin_again(id);
    }
}

void LeaseLoop::clock_set_back() {
    schedule_.clock_set_back(now_);
    heartbeats_.clock_set_back(now_);
    released_.clock_set_back(now_);
    const auto waiting = std::exchange(retries_, {});
    for (const auto& [at, id] : waiting) retries_.emplace(std::min(at, now_), id);
}

void LeaseLoop::release(Id id, TimePoint run_at) { released_.add(drop(leased_.find(id)), run_at); }

void LeaseLoop::forget(Id id) {
    const auto leased = leased_.find(id);
    if (leased != leased_.end()) drop(leased);
}

Lease LeaseLoop::drop(std::unordered_map<Id, Leased>::iterator leased) {
    auto& [lease, refusals, settlement_refused, settlement] = leased->second;
    leased_bytes_ -= lease.job.size();
    if (settlement) settling_bytes_ -= lease.job.size();
    if (settlement_refused) --refused_;
    auto dropped = std::move(lease);
    leased_.erase(leased);
    return dropped;
}

// --- Heartbeats and closing ---------------------------------------------------------------------

void LeaseLoop::stay_alive() {
    if (retiring_ || !heartbeats_.due(now_)) return;
    const bool scrubs = heartbeats_.sent(now_);
    beat();
    if (scrubs) others_.emplace_back(ScrubWorkers{options_.worker_silence});
}

/// The heartbeat is a submission of its own, so its reply does not wait for the writes of other
/// steps.
void LeaseLoop::beat() {
    submit(
        store_, heartbeat(), now_,
        [event_queue = events_.shared(), at = now_](Result<HeartbeatReply> reply) {
            if (reply) event_queue->put(Heard{at, std::move(reply->cancelled)});
        },
        0);
}

/// A closing worker acquires nothing, so its profile lists no queue.
Heartbeat LeaseLoop::heartbeat() const {
    Heartbeat beat{.worker = options_.worker};
    owner_.describe(beat);
    if (beat.profile == nullptr || !closing()) return beat;
    auto profile = *beat.profile;
    profile.queues.clear();
    beat.profile = std::make_shared<const WorkerProfile>(std::move(profile));
    return beat;
}

void LeaseLoop::on(Scrubbed& scrubbed) {
    log_released(scrubbed.jobs, options_.log);
    if (scrubbed.jobs.more && !retiring_)
        others_.emplace_back(ScrubWorkers{options_.worker_silence});
}

void LeaseLoop::close(TimePoint deadline) {
    close_at_ = deadline;
    settle_by_ = saturating_add(deadline, settle_timeout);
}

void LeaseLoop::wind_up() {
    if (!leased_.empty()) {
        warn("gave up settling jobs that have ended: " + std::to_string(leased_.size()) +
             " will run again");
    }
    retiring_ = true;
    retire_at_ = now_;
    // If the worker has no job to release, the retirement is tried only once. If it fails, a scrub
    // removes the worker later.
    const bool releases = !leased_.empty() || !released_.empty();
    retire_by_ = releases ? saturating_add(now_, settle_timeout) : now_;
    leased_.clear();
    unsent_.clear();
    leased_bytes_ = 0;
    settling_bytes_ = 0;
    refused_ = 0;
    retries_.clear();
    // The retirement releases the jobs in `released_`, too, in fewer steps.
    released_.clear();
}

bool LeaseLoop::awaiting() const {
    const bool in_time = !over(now_) || now_ < settle_by_;
    if (in_time && !leased_.empty()) return true;
    if (in_time && released_.must_send(now_)) return true;
    return std::any_of(leased_.begin(), leased_.end(),
                       [](const auto& any) { return !any.second.settlement; });
}

void LeaseLoop::retire() {
    retire_at_ = never;
    submit(store_, RetireWorker{options_.worker}, now_,
           [event_queue = events_.shared()](const Result<ReleasedJobs>& jobs) {
               event_queue->put(Retired{jobs});
           });
}

void LeaseLoop::on(Retired& retired) {
    if (retired.jobs) {
        retired_ = !retired.jobs->more;
        if (retired_) return;
        retire_by_ = saturating_add(now_, settle_timeout);
        return retire();
    }
    const auto& error = retired.jobs.error();
    if (now_ < retire_by_ && !is_final_refusal(error)) {
        if (retire_refusals_ == 0) warn("the store failed: " + error.message());
        retire_at_ = now_ + refusal_backoff(retire_refusals_++);
        return;
    }
    // A scrub will find the worker silent, and release the jobs.
    warn("could not release the leased jobs");
    retired_ = true;
}

// --- Sending -------------------------------------------------------------------------------------

template <class Back>
void LeaseLoop::post(std::vector<Step> steps, Back event) {
    if (steps.empty()) return;
    // The completion must not allocate memory, because without memory the reply would be lost.
    event.outcomes.reserve(steps.size());
    store_.submit(steps, now_,
                  [event_queue = events_.shared(),
                   event = std::move(event)](std::span<Outcome> outcomes) mutable {
                      event.outcomes.assign(std::make_move_iterator(outcomes.begin()),
                                            std::make_move_iterator(outcomes.end()));
                      event_queue->put(std::move(event));
                  });
}

void LeaseLoop::post_released() {
    auto chunk = released_.take(now_, is_ruby_queue(options_.queue));
    post(std::move(chunk.steps), GaveBack{std::move(chunk.leases), {}});
}

void LeaseLoop::on(GaveBack& back) {
    const auto refusal = released_.replied(std::move(back.leases), back.outcomes, now_);
    if (refusal) warn("the store failed: " + refusal->message());
    if (released_.refused()) return;
    // The store makes progress, so the timeout for the next releases restarts.
    settle_by_ = std::max(settle_by_, saturating_add(now_, settle_timeout));
}

void LeaseLoop::post_others() {
    if (others_.empty()) return;
    auto steps = std::exchange(others_, {});
    store_.submit(steps, now_, [event_queue = events_.shared()](std::span<Outcome> outcomes) {
        for (const auto& outcome : outcomes) {
            const auto* scrubbed = outcome ? std::get_if<ReleasedJobs>(&*outcome) : nullptr;
            if (scrubbed != nullptr && *scrubbed != ReleasedJobs{}) {
                event_queue->put(Scrubbed{*scrubbed});
            }
        }
    });
}

}  // namespace routemaster::detail
