#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/process.hpp"
#include "components/program.hpp"
#include "components/run_component.hpp"
#include "components/worker_component.hpp"

namespace routemaster::service {
namespace {

struct Settings {
    ProcessSettings process{};
    WorkerSettings worker{};
    RunSettings run{};
};

int work(Settings& settings) {
    check(settings.worker);
    const auto keeper = keeper_for(settings.run);
    const DescriptorShares wanted{.deliveries = settings.worker.deliveries_max,
                                  .commands = slots_of(settings.run)};
    const auto begin = [&](Store& store, const DescriptorShares& shares, const Log& log) {
        settings.worker.deliveries_max = shares.deliveries;
        Components components;
        components.push_back(
            std::make_unique<WorkerComponent>(store, settings.process, settings.worker, log));
        if (keeper != nullptr) {
            components.push_back(std::make_unique<RunComponent>(store, settings.process,
                                                                settings.run, *keeper, log));
        }
        return components;
    };
    return run_process(settings.process, wanted, begin);
}

Run declare(CLI::App& app) {
    const auto settings = std::make_shared<Settings>();
    app.set_version_flag("--version", version_of("routemaster-worker"));
    declare_process(app, settings->process, Sharing::shared);
    declare_worker(app, settings->worker);
    declare_run(app, settings->run);
    return [settings] { return work(*settings); };
}

int main(std::vector<std::string> arguments) {
    CLI::App app{
        "Delivers events that routemaster-web accepts, and runs commands for jobs. Any number of "
        "both share one Redis "
        "server.",
        "routemaster-worker"};
    return run_program(app, declare, std::move(arguments));
}

}  // namespace
}  // namespace routemaster::service

int main(int argc, char** argv) {
    return routemaster::service::main(routemaster::service::begin_program(argc, argv));
}
