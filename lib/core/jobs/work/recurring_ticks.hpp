/// @file
/// Decides which ticks of a recurring job to run.

#pragma once

#include <vector>

#include "routemaster/job_schedule.hpp"
#include "routemaster/recurring_job.hpp"
#include "routemaster/store/step/recurring.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

/// With `CatchUp::skip`, the last missed tick is run if it is less late than this.
inline constexpr Duration late_max{60'000};

/// With `CatchUp::all`, at most this many missed ticks are run. Older ticks are dropped.
inline constexpr std::size_t caught_up_max = 1'000;

[[nodiscard]] std::vector<TimePoint> ticks_to_run(const RecurringJob& job,
                                                  const JobSchedule& schedule, TimePoint now);

/// The steps that run the due ticks and settle the skipped ticks. The steps must be performed in
/// order. `now` is a time of the store's clock, `here` a time of the caller's clock.
[[nodiscard]] std::vector<RunRecurringJob> runs_of(const RecurringJob& job,
                                                   const JobSchedule& schedule, TimePoint now,
                                                   TimePoint here);

/// Whether ticks were settled that are still in the future, because the store's clock was ahead.
/// `now` is the current time of the store's clock.
[[nodiscard]] bool ran_ahead(const RecurringJob& job, TimePoint now);

/// A step that settles ticks up to `now`, and makes later ticks due again.
[[nodiscard]] RunRecurringJob reschedule_of(const RecurringJob& job, const JobSchedule& schedule,
                                            TimePoint now);

}  // namespace routemaster::detail
