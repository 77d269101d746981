#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "components/process.hpp"
#include "components/program.hpp"
#include "components/web_component.hpp"

namespace routemaster::service {
namespace {

struct Settings {
    ProcessSettings process{};
    WebSettings web{};
};

int take_in(Settings& settings) {
    complete(settings.web, settings.process);
    const DescriptorShares wanted{.connections = settings.web.connections_max};
    const auto begin = [&](Store& store, const DescriptorShares& shares, const Log& log) {
        settings.web.connections_max = shares.connections;
        Components components;
        components.push_back(
            std::make_unique<WebComponent>(store, settings.process, settings.web, log));
        return components;
    };
    return run_process(settings.process, wanted, begin);
}

Run declare(CLI::App& app) {
    const auto settings = std::make_shared<Settings>();
    app.set_version_flag("--version", version_of("routemaster-web"));
    declare_process(app, settings->process, Sharing::shared);
    declare_web(app, settings->web);
    return [settings] { return take_in(*settings); };
}

int main(std::vector<std::string> arguments) {
    CLI::App app{
        "Accepts events over HTTP, for routemaster-worker to deliver. Any number of both "
        "share one Redis server.",
        "routemaster-web"};
    return run_program(app, declare, std::move(arguments));
}

}  // namespace
}  // namespace routemaster::service

int main(int argc, char** argv) {
    return routemaster::service::main(routemaster::service::begin_program(argc, argv));
}
