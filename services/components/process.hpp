/// @file
/// Runs a process of the service, from its settings to its orderly stop.

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
    double stop_grace = 8;  ///< Seconds. Less than the ten seconds that most supervisors allow.
    LogSettings log{};
    /// The parsed command line. It also has the source of each setting.
    const CLI::App* app = nullptr;
};

/// Declares `--config` and the settings of every process. `settings` must outlive the parsing.
void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing);

/// Interface of a part of a process, with separate threads. The constructor starts its work.
class Component {
public:
    virtual ~Component() = default;

    /// Returns Ruby Routemaster's name for a process with this component: `web` or `worker`.
    [[nodiscard]] virtual const char* type() const = 0;

    /// Prints the line for which scripts wait, if any.
    virtual void announce() const {}

    /// Stops the component. Unfinished work may continue until `deadline`.
    virtual void stop(TimePoint deadline) = 0;
};

/// The components of a process, in the order in which they are stopped.
using Components = std::vector<std::unique_ptr<Component>>;

/// Function that starts the components of a process. `shares` limits their descriptors.
using Begin = std::function<Components(Store&, const DescriptorShares&, const Log&)>;

/// Runs a process: opens the log, claims descriptors for `wanted`, opens the store, starts the
/// components, and stops the components at the first signal. A second signal ends the process at
/// once. The first signal also ends the process at once if not all components have started, or if
/// the store is a server that does not reply, so that no delivery can be settled. SIGHUP reopens
/// the log file. Starts and stops are logged, and counted in the counter `process`. Returns the
/// exit status.
[[nodiscard]] int run_process(const ProcessSettings& settings, const DescriptorShares& wanted,
                              const Begin& begin);

}  // namespace routemaster::service
