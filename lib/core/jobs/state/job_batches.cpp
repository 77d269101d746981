#include "core/jobs/state/job_batches.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "routemaster/counter.hpp"

namespace routemaster::detail {

Result<JobBatchCreated> JobBatchTable::create(const JobBatchSettings& settings, TimePoint now) {
    if (const auto found = names_.find(settings.name); found != names_.end()) {
        return JobBatchCreated{found->second, false};
    }
    if (open_.size() >= job_batches_open_max) {
        return Error{Errc::invalid, "name: " + std::to_string(job_batches_open_max) +
                                        " batches have not ended: close or remove some"};
    }
    forget_old(now);
    const auto id = ++last_id_.last;
    changes_.counted(last_id_);
    const auto label = std::to_string(id);
    auto& numbers = numbers_.open(label);
    numbers.label = label;
    auto& state = table_.open(label);
    state.label = label;
    state.batch.id = id;
    state.batch.settings = settings;
    state.batch.created_at = now;
    state.numbers = &numbers;
    add(state);
    changes_.changed(state);
    changes_.changed(numbers);
    return JobBatchCreated{id};
}

void JobBatchTable::add(JobBatchState& state) {
    const auto& batch = state.batch;
    names_.emplace(batch.settings.name, batch.id);
    (batch.ended_at ? ended_ : open_).emplace(batch.id, &state);
    if (batch.ended_at) ends_.emplace(*batch.ended_at, batch.id);
}

JobBatchState* JobBatchTable::find(JobBatchId id) const {
    if (const auto found = open_.find(id); found != open_.end()) return found->second;
    const auto found = ended_.find(id);
    return found == ended_.end() ? nullptr : found->second;
}

void JobBatchTable::close(JobBatchState& state, TimePoint now) {
    if (state.batch.closed_at) return;
    state.batch.closed_at = now;
    changes_.changed(state);
    touched_.insert(state.batch.id);
}

void JobBatchTable::remove(JobBatchState& state) {
    const auto& batch = state.batch;
    names_.erase(batch.settings.name);
    (batch.ended_at ? ended_ : open_).erase(batch.id);
    if (batch.ended_at) ends_.erase({*batch.ended_at, batch.id});
    changes_.gone(*state.numbers);
    numbers_.erase(*state.numbers);
    changes_.gone(state);
    table_.erase(state);
}

JobBatch JobBatchTable::shown(const JobBatchState& state) {
    auto batch = state.batch;
    batch.progress = state.numbers->progress;
    return batch;
}

JobBatchPage JobBatchTable::list(const ListJobBatches& step) const {
    const auto& all = step.ended ? ended_ : open_;
    JobBatchPage page;
    for (auto at = all.upper_bound(step.after); at != all.end(); ++at) {
        if (page.batches.size() == step.limit) {
            page.next = page.batches.back().id;
            break;
        }
        page.batches.push_back(shown(*at->second));
    }
    return page;
}

// --- Jobs of batches ----------------------------------------------------------------------------

Result<void> JobBatchTable::may_join(JobBatchId id) const {
    if (id == 0) return {};
    const auto* state = find(id);
    if (state == nullptr) {
        return Error{Errc::invalid, "batch: there is no batch " + std::to_string(id)};
    }
    // A batch ends only at the end of a step. Until then, jobs may join it, even if the step
    // completed its last job.
    if (!state->batch.closed_at || state->numbers->progress.pending() > 0 ||
        touched_.contains(id)) {
        return {};
    }
    return Error{Errc::invalid, "batch: batch " + std::to_string(id) + " has ended"};
}

void JobBatchTable::count(JobBatchId id, Number number, int change) {
    auto* state = id == 0 ? nullptr : find(id);
    if (state == nullptr) return;
    state->numbers->progress.*number += static_cast<std::uint64_t>(change);
    changes_.counted(*state->numbers);
    touched_.insert(id);
}

void JobBatchTable::settle(TimePoint now, const Push& push) {
    for (const auto id : std::exchange(touched_, {})) {
        if (auto* state = find(id)) settle(*state, now, push);
    }
}

void JobBatchTable::settle(JobBatchState& state, TimePoint now, const Push& push) {
    auto& batch = state.batch;
    const auto& progress = state.numbers->progress;
    if (!batch.closed_at || progress.pending() > 0) return;
    const bool succeeds = !batch.succeeded_at && progress.succeeded == progress.total;
    const bool ends = !batch.ended_at;
    if (!succeeds && !ends) return;
    if (succeeds) {
        batch.succeeded_at = now;
        if (batch.settings.on_success) {
            batch.success_job = push(push_of(*batch.settings.on_success, batch.id, "success", now));
        }
    }
    if (ends) {
        batch.ended_at = now;
        if (batch.settings.on_end) {
            batch.end_job = push(push_of(*batch.settings.on_end, batch.id, "end", now));
        }
        open_.erase(batch.id);
        add(state);
    }
    changes_.changed(state);
    if (ends) forget_old(now);
}

bool JobBatchTable::forget_first(TimePoint now) {
    if (ends_.empty()) return false;
    const auto [ended_at, id] = *ends_.begin();
    const bool old = saturating_add(ended_at, job_batches_age_max) <= now;
    if (!old && ends_.size() <= job_batches_kept_max) return false;
    counters_.add({"job_batches.forgotten", {}}, 1);
    remove(*find(id));
    return true;
}

void JobBatchTable::forget_old(TimePoint now) {
    if (forget_first(now)) forget_first(now);
}

// --- Restoring ----------------------------------------------------------------------------------

void JobBatchTable::settle_restored() {
    open_.clear();
    ended_.clear();
    ends_.clear();
    names_.clear();
    for (auto& [label, state] : table_) {
        std::from_chars(label.data(), label.data() + label.size(), state.batch.id);
        last_id_.last = std::max(last_id_.last, state.batch.id);
        state.numbers = &numbers_.open(label);
        state.numbers->label = label;
        add(state);
    }
}

}  // namespace routemaster::detail
