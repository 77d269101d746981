/// @file
/// Which ticks of a recurring job are run.

#pragma once

#include <vector>

#include "routemaster/job_schedule.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/step/recurring.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// How late the last tick may be so that `CatchUp::skip` runs it.
inline constexpr Duration late_max{60'000};

/// Missed ticks that `CatchUp::all` runs at most; older ones are dropped.
inline constexpr std::size_t caught_up_max = 1'000;

/// The ticks of a recurring job that are to be run, the oldest first.
[[nodiscard]] std::vector<TimePoint> ticks_to_run(const RecurringJob& job,
                                                  const JobSchedule& schedule, TimePoint now);

/// The steps that run them and settle all others, each of which needs the one before it. `now` is
/// by the clock of the store, `here` by the caller's.
[[nodiscard]] std::vector<RunRecurringJob> runs_of(const RecurringJob& job,
                                                   const JobSchedule& schedule, TimePoint now,
                                                   TimePoint here);

/// Whether the clock of the store, which shows `now`, had run ahead when ticks were settled.
[[nodiscard]] bool ran_ahead(const RecurringJob& job, TimePoint now);

/// The step that settles the ticks up to `now` and none behind it.
[[nodiscard]] RunRecurringJob reschedule_of(const RecurringJob& job, const JobSchedule& schedule,
                                            TimePoint now);

}  // namespace routemaster::detail
