#include "core/jobs/state/recurring.hpp"

#include <algorithm>

namespace routemaster::detail {

bool RecurringTable::put(const PutRecurringJob& step, TimePoint now) {
    const auto& settings = *step.settings;
    auto* present = table_.find(step.name);
    if (present != nullptr && present->job.settings == settings) return false;
    auto& state = present != nullptr ? *present : table_.open(step.name);
    auto& job = state.job;
    const bool other_ticks = present == nullptr || job.settings.schedule != settings.schedule ||
                             job.settings.time_zone != settings.time_zone;
    job.name = step.name;
    job.settings = settings;
    job.revision = step.revision;
    if (other_ticks) {
        job.settled_until = present == nullptr ? now : std::max(job.settled_until, now);
        move(state, job.paused, now);
    }
    changes_.changed(state);
    return other_ticks && !job.paused;
}

void RecurringTable::remove(RecurringState& state) {
    due_.erase({state.job.next_at, state.job.name});
    changes_.gone(state);
    table_.erase(state);
}

bool RecurringTable::pause(RecurringState& state, bool paused, TimePoint now) {
    auto& job = state.job;
    if (job.paused == paused) return false;
    if (!paused) job.settled_until = std::max(job.settled_until, now);
    move(state, paused, job.next_at);
    changes_.changed(state);
    return !paused;
}

std::vector<RecurringJob> RecurringTable::list(const Page& page) const {
    return table_.list<RecurringJob>(page, [](const RecurringState& state) { return state.job; });
}

DueRecurring RecurringTable::due(std::uint32_t limit, TimePoint now) {
    DueRecurring found;
    found.now = now;
    for (const auto& [at, name] : due_) {
        if (at > now || found.jobs.size() == limit) {
            found.next_at = at;
            break;
        }
        found.jobs.push_back(table_.find(name)->job);
    }
    return found;
}

RecurringState* RecurringTable::fresh(const RunRecurringJob& step) {
    auto* state = table_.find(step.name);
    if (state == nullptr) return nullptr;
    const auto& job = state->job;
    const bool same = job.revision == step.revision && job.next_at == step.at;
    return same && (step.anew || !job.paused) ? state : nullptr;
}

void RecurringTable::settle(RecurringState& state, const RunRecurringJob& step,
                            RecurringRun::Outcome ran) {
    auto& job = state.job;
    job.settled_until = step.anew ? step.until : std::max(job.settled_until, step.until);
    if (ran == RecurringRun::Outcome::pushed) {
        ++job.runs;
        job.last_at = step.until;
    }
    if (ran == RecurringRun::Outcome::kept) ++job.kept;
    move(state, job.paused, step.next);
    changes_.changed(state);
}

void RecurringTable::settle_restored() {
    due_.clear();
    for (const auto& [name, state] : table_) {
        if (!state.job.paused) due_.emplace(state.job.next_at, name);
    }
}

void RecurringTable::move(RecurringState& state, bool paused, TimePoint next_at) {
    auto& job = state.job;
    due_.erase({job.next_at, job.name});
    job.paused = paused;
    job.next_at = next_at;
    if (!paused) due_.emplace(next_at, job.name);
}

}  // namespace routemaster::detail
