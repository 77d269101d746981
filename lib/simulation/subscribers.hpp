/// @file
/// Those outside who take batches and whose jobs are done: they fail, are slow and lose receipts.

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

/// The names of the jobs of a world, and of those that follow from them. A handler of the test gets
/// the first alone.
inline constexpr const char* work_name = "work";
inline constexpr const char* follow_up_name = "follow_up";

/// What becomes of one attempt.
struct Attempt {
    bool refused = false;       ///< It fails before anything was done.
    bool rejected = false;      ///< The same, for good.
    bool receipt_lost = false;  ///< It was done, and is reported as a failure.
    bool fatal = false;         ///< It was done, and then its worker dies.
    Duration takes{0};          ///< Until it is done.
};

/// The outside of a world. It survives whatever happens inside. Not thread safe.
class Subscribers {
public:
    /// Both must outlive it.
    Subscribers(SimulationContext& context, Oracle& oracle) : context_{context}, oracle_{oracle} {}

    void handle_batches(const std::string& token, BatchHandler handler) {
        batch_handlers_[token] = std::move(handler);
    }
    void handle_jobs(testing::JobHandler handler) { job_handler_ = std::move(handler); }

    /// Draws what becomes of an attempt.
    [[nodiscard]] Attempt attempt();

    /// A batch reaches its subscriber. An error when its handler threw.
    Result<void> take(const Delivery& delivery);
    /// A job is done. An error when its handler threw.
    Result<void> run(const std::string& job);

private:
    Result<void> call(const std::function<void()>& handler);

    SimulationContext& context_;
    Oracle& oracle_;
    std::map<std::string, BatchHandler> batch_handlers_;
    testing::JobHandler job_handler_;
};

}  // namespace routemaster::simulation
