/// @file
/// `PoolProcess`: a worker process that runs jobs with a worker pool.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "link.hpp"
#include "process.hpp"
#include "routemaster/job_responder.hpp"
#include "routemaster/worker_pool.hpp"
#include "subscribers.hpp"

namespace routemaster::simulation {

/// Simulated process with a real `WorkerPool`. Its handlers take time, fail, snooze, and kill the
/// process; some jobs kill the process in each attempt. While the process stalls, its leases may be
/// lost. Afterwards it reports the jobs of these leases nevertheless. Not thread safe.
class PoolProcess final : public Process {
public:
    /// The pool serves `job_queue`, `doomed_queue` and `further` queues. `die` kills this process.
    /// All further arguments must outlive the process.
    PoolProcess(SimulationContext& context, Store& store, Subscribers& subscribers,
                std::string name, const std::vector<std::string>& further,
                std::function<void()> die);

private:
    PoolProcess(SimulationContext& context, Store& store, Subscribers& subscribers,
                std::string name, const std::vector<std::string>& further,
                std::function<void()> die, std::uint64_t seed);

    void begin(const JobResponder& responder);
    void begin_doomed(const JobResponder& responder);
    void end(const JobResponder& responder, const Attempt& attempt);
    void fail(const JobResponder& responder);
    /// Calls `what` after `span`, unless the process is dead by then. While the process stalls, the
    /// call is delayed.
    void later(Duration span, std::function<void()> what);

    SimulationContext& context_;
    Subscribers& subscribers_;
    std::function<void()> die_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    // Responders of jobs that must not be settled before the process dies.
    std::vector<JobResponder> doomed_;
    Link link_;
    WorkerPool pool_;
};

}  // namespace routemaster::simulation
