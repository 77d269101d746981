/// @file
/// The component that does jobs by running commands.

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

/// Its settings.
struct RunSettings {
    std::map<std::string, std::vector<std::string>> commands{};  ///< By queue: their words.
    std::uint32_t slots = 4;
    double timeout = 0;       ///< Seconds, as the next two. 0: none.
    double kill_after = 5;    ///< From SIGTERM to SIGKILL.
    double retry_after = 60;  ///< After exit status 75.
};

/// Declares the settings. `settings` must outlive the parsing.
void declare_run(CLI::App& app, RunSettings& settings);

/// How many commands may run at once; none when there is none to run.
[[nodiscard]] std::uint32_t slots_of(const RunSettings& settings) noexcept;

/// Makes the process that commands are started from, if there is any to run. To be called before
/// anything else: see `CommandKeeper`.
[[nodiscard]] std::unique_ptr<CommandKeeper> keeper_for(const RunSettings& settings);

/// A `WorkerPool` that runs a command for each job of its queues, whatever their names. The command
/// gets the arguments of the job as JSON on its standard input, and in its environment
/// `ROUTEMASTER_JOB_ID`, `_QUEUE`, `_NAME`, `_ATTEMPT` and `_FENCE`. With exit status 0 the job is
/// done; with 75 it is tried again later; else the attempt failed, with the last lines of the
/// output as its error.
///
/// A thread waits for each command: there are few, and each has a process anyway.
class RunComponent final : public Component {
public:
    /// All must outlive it. Throws `Failure`.
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
