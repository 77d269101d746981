/// @file
/// A job: a name, its arguments, and at most one of its kind in a queue.
///
///     push ──► SCHEDULED ──promote (due)──► READY ──acquire──► PENDING ──ack──► gone
///                  ▲  ▲                                          │ │
///                  │  └──────────── nack (retry at) ─────────────┘ │
///                  └──────────── scrub (its worker died) ──────────┘

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "routemaster/time.hpp"
#include "routemaster/uid.hpp"
#include "routemaster/value.hpp"

namespace routemaster {

/// Work to be done. Two jobs of equal name and arguments are the same job.
struct Job {
    std::string name;
    Value::Array arguments{};

    friend bool operator==(const Job&, const Job&) = default;
};

/// The right of one worker to do one job, until it settles the job or is taken for dead.
struct Lease {
    std::string queue;        ///< See `is_queue_name`; steps refuse any other as `invalid`.
    std::string job;          ///< The encoded job, which is also its identity.
    Uid worker;               ///< The worker that has the lease.
    std::uint64_t fence = 0;  ///< Differs for each time the job is acquired.

    friend bool operator==(const Lease&, const Lease&) = default;
};

/// The number of jobs of a queue in each state. A scheduled job that is due counts as READY.
struct QueueStatus {
    std::uint64_t scheduled = 0;
    std::uint64_t ready = 0;
    std::uint64_t pending = 0;

    friend bool operator==(const QueueStatus&, const QueueStatus&) = default;
};

}  // namespace routemaster
