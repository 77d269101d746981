/// @file
/// `JobQueues`: the state of a store's queues, for monitoring.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
#include "routemaster/queue_throughput.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"

namespace routemaster {

/// Façade that lists the queues of a store.
///
///     for (const auto& queue : routemaster::JobQueues{store}.list().value())
///         std::cout << queue.name << ": " << queue.status.ready << " jobs wait\n";
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobQueues {
public:
    /// The store and the clock must outlive this object.
    explicit JobQueues(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// A page of the queues that have jobs, are paused, or have rate limits, in alphabetical order.
    /// Each entry has the number of jobs by state, the latency, and the limits. `delivery_queue`,
    /// the queue of the bus, is listed while it has deliveries.
    [[nodiscard]] Result<std::vector<ListedQueue>> list(Page page = {.after = {},
                                                                     .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<ListedQueue>>)> done) const;

    /// Returns one queue, `delivery_queue` included. For a queue that `list` would omit, only the
    /// members about workers are not 0. `invalid` for a name that does not satisfy `is_queue_name`.
    [[nodiscard]] Result<ListedQueue> find(const std::string& name) const;
    void find(const std::string& name, std::function<void(Result<ListedQueue>)> done) const;

    /// Counts the jobs of a queue that were done, failed, became BURIED, or expired, for each of
    /// the last 60 minutes and 24 hours. An embedded store counts from the start of its process.
    /// `invalid` for a name that does not satisfy `is_queue_name`, and for Ruby Routemaster's
    /// queues.
    [[nodiscard]] Result<QueueThroughput> throughput(const std::string& name) const;
    void throughput(const std::string& name,
                    std::function<void(Result<QueueThroughput>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
