/// @file
/// A process of the service: from its settings to its orderly end.

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
    double stop_grace = 8;  ///< Seconds. Less than the ten that supervisors commonly allow.
    LogSettings log{};
    const CLI::App* app = nullptr;  ///< The parsed command line; knows where settings come from.
};

/// Declares `--config` and the settings of every process. `settings` must outlive the parsing.
void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing);

/// A part of a process. It works from its construction on, on threads of its own.
class Component {
public:
    virtual ~Component() = default;

    /// Ruby Routemaster's word for a process with this part: `web` or `worker`.
    [[nodiscard]] virtual const char* type() const = 0;

    /// Prints the line that scripts wait for.
    virtual void announce() const {}

    /// Stops, and lets work under way end by `deadline`.
    virtual void stop(TimePoint deadline) = 0;
};

/// The components of a process. They are stopped in this order.
using Components = std::vector<std::unique_ptr<Component>>;

/// Starts the components of a process, with the descriptors that each part may open.
using Begin = std::function<Components(Store&, const DescriptorShares&, const Log&)>;

/// Opens the log, claims the descriptors of `wanted`, opens the store, starts the components, and
/// stops them at a signal. A second signal ends the process at once, as does the first before all
/// components have started, or when the store is a server that does not reply, so that nothing can
/// be settled. SIGHUP reopens the log file. Logs each start and stop, and counts them in `process`.
/// Returns the exit status.
[[nodiscard]] int run_process(const ProcessSettings& settings, const DescriptorShares& wanted,
                              const Begin& begin);

}  // namespace routemaster::service
