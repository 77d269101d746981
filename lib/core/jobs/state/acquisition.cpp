#include "core/jobs/state/acquisition.hpp"

#include <algorithm>

#include "routemaster/error.hpp"

namespace routemaster::detail {

Acquisition::Acquisition(JobTable& jobs, QueueState& queue, const AcquireJobs& step, TimePoint now,
                         const Reveal& reveal)
    : jobs_{jobs},
      queue_{queue},
      step_{step},
      now_{now},
      reveal_{reveal},
      worker_{jobs.leases().worker(step.worker)} {}

Acquired Acquisition::run() {
    if (!queue_.paused) jobs_.promote(queue_, now_);
    rates_ = queue_.rates.get();
    worker_.seen = now_;
    report_unknown_leases();
    if (queue_.paused) {
        WakeUps::note_hunger(queue_, step_);
        return std::move(acquired_);
    }
    if (step_.explain && queue_.has_ids) before_ = JobReports::count(queue_, now_);
    if (queue_.of_deliveries) {
        destinations_ = jobs_.destinations().sources_of(step_);
        sources_ = destinations_;
    }
    const auto known = acquired_.leases.size() + acquired_.held.size();
    const auto wanted = step_.limit - std::min<std::size_t>(step_.limit, known);
    leases_max_ = acquired_.leases.size() + wanted;
    if (rates_ != nullptr) {
        leases_max_ = std::min(leases_max_, acquired_.leases.size() + rates_->tokens(now_));
    }
    acquired_.leases.reserve(std::min<std::size_t>(step_.limit, leases_at_most()));

    auto& leases = jobs_.leases();
    const auto newest = std::max(leases.fence(), step_.newest);
    lease_from_sources(wanted);
    if (leases.fence() > newest) LeaseTable::note_time(worker_, newest + 1, now_);
    jobs_.reservations().cover_fence(leases.fence());
    set_next_due();
    return std::move(acquired_);
}

void Acquisition::report_unknown_leases() {
    for (auto* lost = LeaseTable::first_beyond(worker_, step_.known); lost != nullptr;
         lost = worker_.jobs.next(*lost)) {
        if (&lost->queue != &queue_) continue;
        if (lost->fence > step_.newest) {
            report(*lost);
        } else {
            acquired_.held.push_back(lost->fence);
        }
    }
}

void Acquisition::report(const JobState& job) {
    LeaseTable::describe(job, acquired_.leases.emplace_back());
    bytes_ += job.payload.size();
    reveal_(job);
}

std::size_t Acquisition::leases_at_most() const {
    auto count = acquired_.leases.size() + queue_.ranked.size();
    if (rates_ != nullptr) count += rates_->throttled();
    for (const auto* source : sources_) count += source->size();
    return count;
}

std::size_t Acquisition::count_filled() const {
    return static_cast<std::size_t>(
        std::count_if(sources_.begin(), sources_.end(),
                      [this](const ReadyJobs* source) { return front(*source) != nullptr; }));
}

void Acquisition::lease_from_sources(std::size_t wanted) {
    const auto filled = count_filled();
    const auto share = std::max<std::size_t>(1, filled == 0 ? 0 : wanted / filled);
    for (const auto most : {share, wanted}) {
        for (auto* source : sources_) lease_from(*source, most);
    }
}

void Acquisition::lease_from(ReadyJobs& source, std::size_t most) {
    while (most > 0 && acquired_.leases.size() < leases_max_) {
        auto* const first = front(source);
        auto* const opened = rates_ == nullptr ? nullptr : rates_->opened_before(first, now_);
        if (first == nullptr && opened == nullptr) return;
        if (ended_ >= ended_at_acquisition_max) return;
        auto* const job = opened != nullptr ? opened : in_turn(*first);
        if (job == nullptr) {
            ++ended_;
            continue;
        }
        const auto choice = prepare(*job);
        if (choice == Choice::stop) return;
        if (choice == Choice::skip) continue;
        lease(*job);
        --most;
    }
}

JobState* Acquisition::in_turn(JobState& first) {
    return rates_ == nullptr ? &first : rates_->in_turn(first, now_);
}

Acquisition::Choice Acquisition::prepare(JobState& job) {
    auto& crashes = jobs_.crashes();
    try {
        if (CrashRecovery::must_end(job, now_)) {
            if (!ends_.take(job)) return Choice::stop;
            ended_ += crashes.end(job, now_);
            return Choice::skip;
        }
        if (crashes.must_wait(job)) {
            crashes.delay(job, now_);
            ++ended_;
            return Choice::skip;
        }
        const bool fits = bytes_ + job.payload.size() <= job_slice_bytes_max;
        if (!fits && !acquired_.leases.empty()) return Choice::stop;
        jobs_.load(job);
    } catch (const Failure&) {
        if (acquired_.leases.empty() && ended_ == 0) throw;
        return Choice::stop;
    }
    if (job.cut_off() && crashes.note_death(job, now_)) {
        ++ended_;
        return Choice::skip;
    }
    return Choice::lease;
}

void Acquisition::lease(JobState& job) {
    if (before_ && acquired_.explained.empty()) {
        acquired_.explained.push_back(
            {.status = jobs_.reports().status(job, now_), .queue = *before_});
    }
    JobPlaces::withdraw(job);
    if (rates_ != nullptr) rates_->take(job, now_);
    if (queue_.has_ids) jobs_.begin_attempt(job);
    auto& leases = jobs_.leases();
    leases.skip_fences(step_.newest);
    leases.grant(job, worker_);
    report(job);
}

void Acquisition::set_next_due() {
    const bool opened = rates_ != nullptr && rates_->opens_at() <= now_;
    // The queue has a token left, but this worker has no free slot. Another worker, which may have
    // a free slot, is woken.
    if (opened && rates_->tokens(now_) > 0) jobs_.wake_ups().wake(queue_);
    if (opened || count_filled() > 0 || (rates_ != nullptr && rates_->going_back())) {
        // The worker polls again when the queue has a token. A wake-up is not needed.
        acquired_.next_due = rates_ == nullptr ? now_ : rates_->next(now_);
        return;
    }
    WakeUps::note_hunger(queue_, step_);
    if (!queue_.scheduled.empty()) {
        acquired_.next_due = std::max(queue_.scheduled.first().run_at, now_);
    }
    if (rates_ != nullptr) {
        const auto due = std::min(acquired_.next_due, rates_->opens_at());
        acquired_.next_due = due == never ? never : std::max(due, rates_->next(now_));
    }
}

}  // namespace routemaster::detail
