/// @file
/// `JobWorkers`: the live workers of a store, for monitoring.

#pragma once

#include <functional>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/result.hpp"
#include "routemaster/store.hpp"
#include "routemaster/store/step/reply.hpp"

namespace routemaster {

/// Façade that lists the workers of a store, in all processes.
///
///     for (const auto& worker : routemaster::JobWorkers{store}.list().value())
///         std::cout << worker.id.text() << " has " << worker.leased << " jobs\n";
///
/// Each call has a blocking form and an asynchronous form with `done`; see `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobWorkers {
public:
    /// The store and the clock must outlive this object.
    explicit JobWorkers(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// A page of the live workers, in the order of their ids. A worker is live from its first
    /// heartbeat until it stops in an orderly way or counts as dead. `after` is the text of an id.
    [[nodiscard]] Result<std::vector<ListedWorker>> list(Page page = {.after = {},
                                                                      .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<ListedWorker>>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
