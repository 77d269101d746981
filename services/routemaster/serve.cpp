#include <atomic>
#include <memory>
#include <optional>

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
    complete(settings.web, settings.process);
    check(settings.worker);
    return run_process(settings.process, [&](Store& store, const Log& log) {
        // The web part comes first: it may find its port in use. Until it is there, the worker part
        // has no trouble to tell of.
        const auto worker = std::make_shared<std::atomic<const WorkerPart*>>(nullptr);
        auto web = std::make_unique<WebPart>(store, settings.process, settings.web, log, [worker] {
            const auto* const there = worker->load();
            return there == nullptr ? std::nullopt : there->trouble();
        });
        auto work = std::make_unique<WorkerPart>(store, settings.process, settings.worker, log);
        worker->store(work.get());
        // What asks the other is the first to stop and to end.
        Parts parts;
        parts.push_back(std::move(web));
        parts.push_back(std::move(work));
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
