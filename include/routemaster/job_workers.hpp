/// @file
/// `JobWorkers`: who works on a store, for whoever watches it.

#pragma once

#include <functional>
#include <vector>

#include "routemaster/clock.hpp"
#include "routemaster/listed_worker.hpp"
#include "routemaster/result.hpp"
#include "routemaster/step/reply.hpp"
#include "routemaster/store.hpp"

namespace routemaster {

/// The workers of a store, in all processes.
///
///     for (const auto& worker : routemaster::JobWorkers{store}.list().value())
///         std::cout << worker.id.text() << " has " << worker.leased << " jobs\n";
///
/// Every call exists in two forms, one of them with `done`: as in `Bus`.
///
/// Thread safety: all members may be called from any thread.
class JobWorkers {
public:
    /// The store and the clock must outlive it.
    explicit JobWorkers(Store& store, const Clock& clock = system_clock())
        : store_{store}, clock_{clock} {}

    /// A page of the workers, by their ids: those that were heard of, and neither ended properly
    /// nor were taken for dead. `after` is the text of an id.
    [[nodiscard]] Result<std::vector<ListedWorker>> list(Page page = {.after = {},
                                                                      .limit = 100}) const;
    void list(Page page, std::function<void(Result<std::vector<ListedWorker>>)> done) const;

private:
    Store& store_;
    const Clock& clock_;
};

}  // namespace routemaster
