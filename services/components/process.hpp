/// @file
/// A process of the service: from its settings to its orderly end.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/log.hpp"
#include "components/store_settings.hpp"
#include "routemaster/log.hpp"
#include "routemaster/store.hpp"
#include "routemaster/time.hpp"

namespace routemaster::service {

/// What can be set about every process.
struct ProcessSettings {
    StoreSettings store{};
    bool allow_http_callbacks = false;
    double stop_grace = 8;  ///< Seconds. Short of the ten that supervisors commonly allow.
    LogSettings log{};
    const CLI::App* app = nullptr;  ///< What was parsed: it knows where settings come from.
};

/// Declares `--config` and the settings of every process. `settings` must outlive the parsing.
void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing);

/// Something that a process does from its construction on, with threads of its own.
class Component {
public:
    virtual ~Component() = default;

    /// What Ruby Routemaster calls a process that does this: `web` or `worker`.
    [[nodiscard]] virtual const char* type() const = 0;

    /// Says on standard output what scripts wait for.
    virtual void announce() const {}

    /// Lets what is under way end until `deadline`.
    virtual void stop(TimePoint deadline) = 0;
};

/// All that one process does. They are stopped in their order.
using Components = std::vector<std::unique_ptr<Component>>;

/// Opens the log and the store, begins the components, and stops them when a signal asks for it; a
/// second signal ends the process at once, as does the first before all have begun, or when the
/// store is a server that does not answer then, so that nothing could be settled. SIGHUP opens the
/// log file again. Each start and stop is logged, and counted in `process`. Returns the exit
/// status.
[[nodiscard]] int run_process(const ProcessSettings& settings,
                              const std::function<Components(Store&, const Log&)>& begin);

}  // namespace routemaster::service
