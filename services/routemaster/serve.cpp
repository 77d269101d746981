#include <atomic>
#include <memory>
#include <optional>

#include "command.hpp"
#include "components/process.hpp"
#include "components/run_component.hpp"
#include "components/web_component.hpp"
#include "components/worker_component.hpp"

namespace routemaster::service {
namespace {

struct Settings {
    ProcessSettings process{};
    WebSettings web{};
    WorkerSettings worker{};
    RunSettings run{};
};

int serve(Settings& settings) {
    complete(settings.web, settings.process);
    check(settings.worker);
    const auto keeper = keeper_for(settings.run);
    const DescriptorShares wanted{settings.web.connections_max, settings.worker.deliveries_max,
                                  slots_of(settings.run)};
    const auto begin = [&](Store& store, const DescriptorShares& shares, const Log& log) {
        settings.web.connections_max = shares.connections;
        settings.worker.deliveries_max = shares.deliveries;
        // The web component starts first, because its port may be in use. Until the worker
        // component exists, the web component reports no problem with deliveries.
        const auto worker = std::make_shared<std::atomic<const WorkerComponent*>>(nullptr);
        auto web =
            std::make_unique<WebComponent>(store, settings.process, settings.web, log, [worker] {
                const auto* const there = worker->load();
                return there == nullptr ? std::nullopt : there->trouble();
            });
        auto work =
            std::make_unique<WorkerComponent>(store, settings.process, settings.worker, log);
        worker->store(work.get());
        // The components are in the order in which they are stopped and destroyed: the web
        // component first, because it uses the worker component.
        Components components;
        components.push_back(std::move(web));
        components.push_back(std::move(work));
        if (keeper != nullptr) {
            components.push_back(std::make_unique<RunComponent>(store, settings.process,
                                                                settings.run, *keeper, log));
        }
        return components;
    };
    return run_process(settings.process, wanted, begin);
}

}  // namespace

Run declare_serve(CLI::App& app) {
    const auto settings = std::make_shared<Settings>();
    declare_process(app, settings->process, Sharing::alone);
    declare_web(app, settings->web);
    declare_worker(app, settings->worker);
    declare_run(app, settings->run);
    return [settings] { return serve(*settings); };
}

}  // namespace routemaster::service
