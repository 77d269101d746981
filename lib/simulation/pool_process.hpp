/// @file
/// A worker process that does jobs with a pool.

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

/// The real pool, and handlers that take their time, fail, ask to wait, and die, some of them each
/// time. While it stalls its jobs may be handed on: then it is a zombie that reports what it did.
/// Not thread safe.
class PoolProcess final : public Process {
public:
    /// It serves the queue of jobs, that of jobs that kill it, and `further` ones. `die` kills it.
    /// The others must outlive it.
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
    /// Lets something happen unless the process is dead by then; while it stalls it waits.
    void later(Duration span, std::function<void()> what);

    SimulationContext& context_;
    Subscribers& subscribers_;
    std::function<void()> die_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::vector<JobResponder> doomed_;  // So that nobody reports them before it dies.
    Link link_;
    WorkerPool pool_;
};

}  // namespace routemaster::simulation
