/// @file
/// `Attempt`: an attempt at a job, from its acquisition to its settlement.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/jobs/work/lease_loop.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/job_context.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct Handler;
struct Attempt;

using AttemptPtr = std::shared_ptr<Attempt>;

using Timeouts = std::multimap<TimePoint, AttemptPtr>;

/// Attempt at a job. The loop of the pool, the thread of the handler and the job's responder share
/// it.
struct Attempt {
    Attempt(std::size_t in_queue, LeaseLoop::Id of_lease, Job job, const Lease& lease,
            const Handler& by, TimePoint now, const Clock& clock,
            const PublicationOptions& publications)
        : queue{in_queue},
          id{of_lease},
          context{std::move(job), lease, clock, &publications},
          handler{by},
          acquired_at{now} {}

    const std::size_t queue;
    const LeaseLoop::Id id;
    JobContext context;
    const Handler& handler;
    Duration timeout{0};  ///< 0: no timeout. Written before other threads see the attempt.

    // Only the loop uses the members below.

    const TimePoint acquired_at;
    std::optional<Timeouts::iterator> times_out{};
    /// The settlement in progress also adds jobs, events or timers (follow-ups).
    bool has_follow_ups = false;
};

}  // namespace routemaster::detail
