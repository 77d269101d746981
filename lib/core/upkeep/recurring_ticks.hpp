/// @file
/// Which ticks of a recurring job run.

#pragma once

#include <vector>

#include "routemaster/job_schedule.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/step/recurring.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// `CatchUp::skip` runs the last tick if it is less late than this.
inline constexpr Duration late_max{60'000};

/// The limit of missed ticks for `CatchUp::all`; older ticks are dropped.
inline constexpr std::size_t caught_up_max = 1'000;

/// The ticks of a recurring job to run, oldest first.
[[nodiscard]] std::vector<TimePoint> ticks_to_run(const RecurringJob& job,
                                                  const JobSchedule& schedule, TimePoint now);

/// The steps that run some ticks and settle the rest. Each step needs the previous step. `now` is
/// by the clock of the store, `here` by the caller's clock.
[[nodiscard]] std::vector<RunRecurringJob> runs_of(const RecurringJob& job,
                                                   const JobSchedule& schedule, TimePoint now,
                                                   TimePoint here);

/// Whether the clock of the store, now at `now`, was ahead when ticks were settled.
[[nodiscard]] bool ran_ahead(const RecurringJob& job, TimePoint now);

/// The step that settles ticks up to `now`, and no later ticks.
[[nodiscard]] RunRecurringJob reschedule_of(const RecurringJob& job, const JobSchedule& schedule,
                                            TimePoint now);

}  // namespace routemaster::detail
