/// @file
/// A process of the service, from its settings to its orderly stop.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/descriptor_shares.hpp"
#include "components/log.hpp"
#include "components/store_settings.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::service {

/// The settings of every process.
struct ProcessSettings {
    StoreSettings store{};
    bool allow_http_callbacks = false;
    double stop_grace = 8;  ///< Seconds. Less than the ten seconds that supervisors commonly allow.
    LogSettings log{};
    const CLI::App* app = nullptr;  ///< The parsed command line, which knows the sources of
                                    ///< settings.
};

/// Declares `--config` and the settings of every process. `settings` must outlive the parsing.
void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing);

/// A part of a process, with its own threads. The constructor starts its work.
class Component {
public:
    virtual ~Component() = default;

    /// The name by which Ruby Routemaster calls a process with this part: `web` or `worker`.
    [[nodiscard]] virtual const char* type() const = 0;

    /// Prints the line for which scripts wait.
    virtual void announce() const {}

    /// Stops. Work under way may continue until `deadline`.
    virtual void stop(TimePoint deadline) = 0;
};

/// The components of a process, in the order in which they are stopped.
using Components = std::vector<std::unique_ptr<Component>>;

/// Starts the components of a process. `shares` limits the descriptors of each part.
using Begin = std::function<Components(Store&, const DescriptorShares&, const Log&)>;

/// Runs a process: opens the log, claims the descriptors of `wanted`, opens the store, starts the
/// components, and stops them at a signal. A second signal ends the process at once. The first
/// signal ends the process at once if not all components have started, or if the store is a server
/// that does not reply and therefore no delivery can be settled. SIGHUP reopens the log file. Logs
/// each start and stop, and counts both in the counter `process`. Returns the exit status.
[[nodiscard]] int run_process(const ProcessSettings& settings, const DescriptorShares& wanted,
                              const Begin& begin);

}  // namespace routemaster::service
