/// @file
/// `RunComponent`: does jobs by running commands.

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
    std::map<std::string, std::vector<std::string>> commands{};  ///< The words of the command for
                                                                 ///< each queue.
    std::uint32_t slots = 4;
    double timeout = 0;       ///< Seconds, as the next two. 0 means no timeout.
    double kill_after = 5;    ///< The time from SIGTERM to SIGKILL.
    double retry_after = 60;  ///< The delay after exit status 75.
};

/// Declares the settings. `settings` must outlive the parsing.
void declare_run(CLI::App& app, RunSettings& settings);

/// How many commands may run at once; 0 when no commands are set.
[[nodiscard]] std::uint32_t slots_of(const RunSettings& settings) noexcept;

/// Makes the process that starts commands; null when no commands are set. Call it before anything
/// else, see `CommandKeeper`.
[[nodiscard]] std::unique_ptr<CommandKeeper> keeper_for(const RunSettings& settings);

/// A `WorkerPool` that runs a command for each job of its queues, whatever the job's name. The
/// command gets the arguments of the job as JSON on its standard input, and the environment
/// variables `ROUTEMASTER_JOB_ID`, `_QUEUE`, `_NAME`, `_ATTEMPT` and `_FENCE`. Exit status 0
/// completes the job; 75 retries it later; any other end fails the attempt, with the last lines of
/// output as the error.
///
/// One thread waits for each command: commands are few, and each is a process anyway.
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
