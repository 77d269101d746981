/// @file
/// `JobBatchClient`: a client that creates batches of jobs.

#pragma once

#include <cstdint>
#include <vector>

#include "link.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_batches.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Simulated client that creates and closes batches with a real `JobBatches`, and pushes jobs into
/// them, some with dependencies. It deletes and kicks some of the jobs. Not thread safe.
class JobBatchClient {
public:
    /// `last_batch` and `last_job` are the last numbers used by any client. All arguments must
    /// outlive this object.
    JobBatchClient(SimulationContext& context, Store& store, std::int64_t& last_batch,
                   std::int64_t& last_job);

    void act();

    void finish();

private:
    void create();
    void push();
    void close();
    void remove_job();
    void kick();

    SimulationContext& context_;
    std::int64_t& last_batch_;
    std::int64_t& last_job_;
    Link link_;
    JobBatches batches_;
    std::vector<JobBatchId> open_;
    std::vector<JobId> jobs_;  // Jobs pushed by this client.
};

}  // namespace routemaster::simulation
