/// @file
/// `JobQueues`: all queues of a store, for whoever watches them.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/queue_throughput.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// The queues of a store.
///
///     for (const auto& queue : routemaster::JobQueues{store}.list().value())
///         std::cout << queue.name << ": " << queue.status.ready << " jobs wait\n";
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueues {
public:
    /// The store and the clock must outlive it.
    explicit JobQueues(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// A page of the queues that have jobs, are paused or have rate limits, by name, each with jobs
    /// by state, how long these wait, and the limits. `delivery_queue`, which is the bus's own, is
    /// one of them while deliveries wait.
    [[nodiscard]] Result<std::vector<ListedQueue>> list(Page page = {.after = {},
                                                                     .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<ListedQueue>>)> done) const;

    /// One of them, `delivery_queue` included; one that would not be listed is all zeros, but
    /// for its workers. `invalid` when the name is none of a queue.
    [[nodiscard]] Result<ListedQueue> find(const std::string& name) const;
    void find(const std::string& name, std::function<void(Result<ListedQueue>)> done) const;

    /// What became of the jobs of a queue in each of the last 60 minutes and 24 hours: done,
    /// failed, BURIED, expired. An embedded store counts from when its process began. `invalid`
    /// when the name is none of a queue, or of Ruby Routemaster's.
    [[nodiscard]] Result<QueueThroughput> throughput(const std::string& name) const;
    void throughput(const std::string& name,
                    std::function<void(Result<QueueThroughput>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
