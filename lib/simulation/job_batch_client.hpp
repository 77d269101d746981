/// @file
/// A client that creates batches of jobs.

#pragma once

#include <cstdint>
#include <vector>

#include "link.hpp"
#include "routemaster/job.hpp"
#include "routemaster/job_batches.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// Creates batches by a real `JobBatches`, pushes jobs into them, of which some wait for others,
/// and closes them. Deletes and kicks some of the jobs. Not thread safe.
class JobBatchClient {
public:
    /// `last_batch` and `last_job` are the numbers of the last ones of any client. All must outlive
    /// it.
    JobBatchClient(SimulationContext& context, Store& store, std::int64_t& last_batch,
                   std::int64_t& last_job);

    /// Does one of these.
    void act();

    /// Closes what is open and kicks what is BURIED, so that nothing is left to do in the end.
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
    std::vector<JobId> jobs_;  // That it has pushed.
};

}  // namespace routemaster::simulation
