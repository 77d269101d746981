/// @file
/// `Subscribers`: simulates the receivers of batches and the effects of jobs. They fail, are slow,
/// and lose receipts.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "oracle.hpp"
#include "routemaster/callbacks.hpp"
#include "routemaster/job.hpp"
#include "routemaster/result.hpp"
#include "routemaster/testing/simulation.hpp"
#include "routemaster/transport.hpp"
#include "simulation_context.hpp"

namespace routemaster::simulation {

/// The names of jobs and of their follow-ups. The job handler of a test gets only `work_name` jobs.
inline constexpr const char* work_name = "work";
inline constexpr const char* follow_up_name = "follow_up";

/// The drawn course of one attempt.
struct Attempt {
    bool refused = false;       ///< Fails before any effect.
    bool rejected = false;      ///< As `refused`, but permanently.
    bool receipt_lost = false;  ///< Succeeds, but a failure is reported.
    bool fatal = false;         ///< Succeeds, and then its worker dies.
    Duration takes{0};          ///< The time until the effect.
};

/// The receivers outside a world, which survive all crashes. Not thread safe.
class Subscribers {
public:
    /// Both arguments must outlive this object.
    Subscribers(SimulationContext& context, Oracle& oracle) : context_{context}, oracle_{oracle} {}

    void handle_batches(const std::string& token, BatchHandler handler) {
        batch_handlers_[token] = std::move(handler);
    }
    void handle_jobs(testing::JobHandler handler) { job_handler_ = std::move(handler); }

    /// Draws the course of an attempt.
    [[nodiscard]] Attempt attempt();

    /// Gives a batch to its subscriber. Returns an error when the subscriber's handler threw.
    Result<void> take(const Delivery& delivery);
    /// Does a job. Returns an error when the handler threw.
    Result<void> run(const std::string& job);

private:
    Result<void> call(const std::function<void()>& handler);

    SimulationContext& context_;
    Oracle& oracle_;
    std::map<std::string, BatchHandler> batch_handlers_;
    testing::JobHandler job_handler_;
};

}  // namespace routemaster::simulation
