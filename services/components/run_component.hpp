/// @file
/// `RunComponent`: runs a command for each job.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/command_keeper.hpp"
#include "components/process.hpp"
#include "routemaster/job_context.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"
#include "routemaster/worker_pool.hpp"

namespace routemaster::service {

/// The settings of `RunComponent`.
struct RunSettings {
    std::map<std::string, std::vector<std::string>> commands{};  ///< The words of the command, by
                                                                 ///< queue.
    std::uint32_t slots = 4;
    double timeout = 0;       ///< Seconds, like the next two settings. 0: no timeout.
    double kill_after = 5;    ///< Delay between SIGTERM and SIGKILL.
    double retry_after = 60;  ///< Delay of the retry after exit status 75.
};

/// Declares the settings. `settings` must outlive the parsing.
void declare_run(CLI::App& app, RunSettings& settings);

/// Returns how many commands may run at once; 0 if no commands are set.
[[nodiscard]] std::uint32_t slots_of(const RunSettings& settings) noexcept;

/// Creates the process that starts commands; null if no commands are set. Must be called before
/// anything else; see `CommandKeeper`.
[[nodiscard]] std::unique_ptr<CommandKeeper> keeper_for(const RunSettings& settings);

/// A `WorkerPool` that runs a command for each job of its queues, for all names of jobs. The
/// command gets the arguments of the job as JSON on its standard input, and the environment
/// variables `ROUTEMASTER_JOB_ID`, `_QUEUE`, `_NAME`, `_ATTEMPT` and `_FENCE`. Exit status 0
/// completes the job, and 75 retries it later. Any other end fails the attempt, with the last lines
/// of output as the error.
///
/// One thread waits for each command. This is affordable, because each command is a process anyway.
class RunComponent final : public Component {
public:
    /// All arguments must outlive the component. Throws `Failure`.
    RunComponent(Store& store, const ProcessSettings& process, const RunSettings& settings,
                 const CommandKeeper& keeper, const Log& log);

    [[nodiscard]] const char* type() const override { return "run"; }
    void stop(TimePoint deadline) override;

private:
    void run(const JobContext& job) const;

    const RunSettings& settings_;
    const CommandKeeper& keeper_;
    const Log& log_;
    WorkerPool pool_;
};

}  // namespace routemaster::service
