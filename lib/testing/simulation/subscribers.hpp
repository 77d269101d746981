/// @file
/// `Subscribers`: the simulated receivers of batches and of the effects of jobs. They fail, are
/// slow, and lose acknowledgements.

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

/// The names of jobs and of their follow-ups. The job handler of a test is called for `work_name`
/// jobs only.
inline constexpr const char* work_name = "work";
inline constexpr const char* follow_up_name = "follow_up";

struct Attempt {
    bool refused = false;       ///< The attempt fails before any effect.
    bool rejected = false;      ///< As `refused`, but the failure is permanent.
    bool receipt_lost = false;  ///< The attempt has its effect, but a failure is reported.
    bool fatal = false;         ///< The attempt has its effect, and then its worker dies.
    Duration takes{0};          ///< The time until the effect.
};

/// Simulated receivers outside of the deployment. They survive all crashes. Not thread safe.
class Subscribers {
public:
    Subscribers(SimulationContext& context, Oracle& oracle) : context_{context}, oracle_{oracle} {}

    void handle_batches(const std::string& token, BatchHandler handler) {
        batch_handlers_[token] = std::move(handler);
    }
    void handle_jobs(testing::JobHandler handler) { job_handler_ = std::move(handler); }

    [[nodiscard]] Attempt attempt();

    Result<void> take(const Delivery& delivery);
    Result<void> run(const std::string& job);

private:
    Result<void> call(const std::function<void()>& handler);

    SimulationContext& context_;
    Oracle& oracle_;
    std::map<std::string, BatchHandler> batch_handlers_;
    testing::JobHandler job_handler_;
};

}  // namespace routemaster::simulation
