/// @file
/// One attempt at a job, from its acquisition until it is settled.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/work/lease_loop.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/job_context.hpp"
#include "routemaster/publication.hpp"
#include "routemaster/time.hpp"

namespace routemaster::detail {

struct Handler;
struct Attempt;

using AttemptPtr = std::shared_ptr<Attempt>;

/// When attempts have taken too long.
using Timeouts = std::multimap<TimePoint, AttemptPtr>;

/// Shared by the loop, the thread that runs the handler, and its responder.
struct Attempt {
    Attempt(std::size_t in_queue, LeaseLoop::Id of_lease, Job job, const Lease& lease,
            const Handler& by, TimePoint now, const Clock& clock,
            const PublicationOptions& publications)
        : queue{in_queue},
          id{of_lease},
          context{std::move(job), lease, clock, &publications},
          handler{by},
          acquired_at{now} {}

    const std::size_t queue;  ///< Its place among the queues of the pool.
    const LeaseLoop::Id id;
    JobContext context;
    const Handler& handler;
    Duration timeout{0};  ///< 0: none. Set before any thread sees it.

    // The rest is the loop's.

    const TimePoint acquired_at;
    std::optional<Timeouts::iterator> times_out{};
    bool has_follow_ups = false;  ///< It is being settled as done, with follow-ups.
};

}  // namespace routemaster::detail
