/// @file
/// `JobQueues`: all queues of a store, for whoever watches them.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/job.hpp"
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

    /// A page of the queues that have jobs or are paused, by name, each with its jobs by state and
    /// how long they wait. `delivery_queue`, which is the bus's own, is one of them while
    /// deliveries wait.
    [[nodiscard]] Result<std::vector<ListedQueue>> list(Page page = {.after = {},
                                                                     .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<ListedQueue>>)> done) const;

    /// One of them, `delivery_queue` included. Of one that has no jobs and is not paused, all
    /// numbers are 0. `invalid` when the name is none of a queue.
    [[nodiscard]] Result<ListedQueue> find(const std::string& name) const;
    void find(const std::string& name, std::function<void(Result<ListedQueue>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
