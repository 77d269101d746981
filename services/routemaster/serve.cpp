#include <memory>

#include "command.hpp"
#include "parts/process.hpp"
#include "parts/web_part.hpp"
#include "parts/worker_part.hpp"

namespace routemaster::service {
namespace {

struct Settings {
    ProcessSettings process{};
    WebSettings web{};
    WorkerSettings worker{};
};

int serve(Settings& settings) {
    complete(settings.web);
    check(settings.worker);
    return run_process(settings.process, [&](Store& store, const Log& log) {
        auto worker = std::make_unique<WorkerPart>(store, settings.process, settings.worker, log);
        auto web = std::make_unique<WebPart>(store, settings.process, settings.web, log,
                                             [&worker = *worker] { return worker.trouble(); });
        // What asks the other is the first to stop and to end.
        Parts parts;
        parts.push_back(std::move(web));
        parts.push_back(std::move(worker));
        return parts;
    });
}

}  // namespace

Run declare_serve(CLI::App& app) {
    const auto settings = std::make_shared<Settings>();
    declare_process(app, settings->process, Sharing::alone);
    declare_web(app, settings->web);
    declare_worker(app, settings->worker);
    return [settings] { return serve(*settings); };
}

}  // namespace routemaster::service
