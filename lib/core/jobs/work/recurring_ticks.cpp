#include "core/jobs/work/recurring_ticks.hpp"

#include <algorithm>
#include <memory>

namespace routemaster::detail {

std::vector<TimePoint> ticks_to_run(const RecurringJob& job, const JobSchedule& schedule,
                                    TimePoint now) {
    std::vector<TimePoint> ticks;
    const std::size_t most = job.settings.catch_up == CatchUp::all ? caught_up_max : 1;
    auto tick = schedule.last(now);
    while (tick && *tick > job.settled_until && ticks.size() < most) {
        ticks.push_back(*tick);
        tick = schedule.last(*tick - Duration{1});
    }
    const bool late = !ticks.empty() && now - ticks.front() >= late_max;
    if (job.settings.catch_up == CatchUp::skip && late) ticks.clear();
    std::reverse(ticks.begin(), ticks.end());
    return ticks;
}

std::vector<RunRecurringJob> runs_of(const RecurringJob& job, const JobSchedule& schedule,
                                     TimePoint now, TimePoint here) {
    std::vector<RunRecurringJob> runs;
    auto at = job.next_at;
    for (const auto tick : ticks_to_run(job, schedule, now)) {
        if (!runs.empty()) runs.back().next = at = tick;
        runs.push_back(
            {.name = job.name, .revision = job.revision, .at = at, .until = tick, .next = never});
        if (job.settings.timer) {
            runs.back().post =
                std::make_shared<const PostTimer>(post_of(job.name, job.settings, tick));
        } else {
            runs.back().push =
                std::make_shared<const PushJob>(push_of(job.name, job.settings, tick, here));
        }
    }
    if (runs.empty()) {
        runs.push_back(
            {.name = job.name, .revision = job.revision, .at = at, .until = now, .next = never});
    }
    runs.back().next = schedule.next(std::max(now, job.settled_until));
    return runs;
}

bool ran_ahead(const RecurringJob& job, TimePoint now) {
    return job.settled_until > saturating_add(now, recurring_step_back_max);
}

RunRecurringJob reschedule_of(const RecurringJob& job, const JobSchedule& schedule, TimePoint now) {
    auto next = schedule.next(now);
    if (next == job.last_at) next = schedule.next(next);
    return {.name = job.name,
            .revision = job.revision,
            .at = job.next_at,
            .until = now,
            .next = next,
            .anew = true};
}

}  // namespace routemaster::detail
