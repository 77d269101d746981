#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/process.hpp"
#include "components/program.hpp"
#include "components/worker_component.hpp"

namespace routemaster::service {
namespace {

struct Settings {
    ProcessSettings process{};
    WorkerSettings worker{};
};

int work(Settings& settings) {
    check(settings.worker);
    return run_process(settings.process, [&](Store& store, const Log& log) {
        Components components;
        components.push_back(
            std::make_unique<WorkerComponent>(store, settings.process, settings.worker, log));
        return components;
    });
}

Run declare(CLI::App& app) {
    const auto settings = std::make_shared<Settings>();
    app.set_version_flag("--version", version_of("routemaster-worker"));
    declare_process(app, settings->process, Sharing::shared);
    declare_worker(app, settings->worker);
    return [settings] { return work(*settings); };
}

int main(std::vector<std::string> arguments) {
    CLI::App app{
        "Delivers events that routemaster-web accepts. Any number of both share one Redis "
        "server.",
        "routemaster-worker"};
    return run_program(app, declare, std::move(arguments));
}

}  // namespace
}  // namespace routemaster::service

int main(int argc, char** argv) {
    return routemaster::service::main(routemaster::service::begin_program(argc, argv));
}
