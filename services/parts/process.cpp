#include "parts/process.hpp"

#include <sys/resource.h>

#include <string>
#include <utility>

#include "parts/seconds.hpp"
#include "parts/settings_file.hpp"
#include "parts/stop_signals.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/step.hpp"

namespace routemaster::service {
namespace {

/// Lets the process have as many connections as the machine allows. The usual limit, meant for
/// programs that use select(), is far below our own settings.
void allow_many_connections() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void count(Store& store, const Parts& parts, const std::string& status, const Log& log) {
    AddToCounters step;
    for (const auto& part : parts) {
        step.increments.push_back({{"process", {{"status", status}, {"type", part->type()}}}, 1});
    }
    const auto reply = perform(store, std::move(step), system_clock().now());
    if (!reply)
        log(LogLevel::warning, "cannot count the " + status + ": " + reply.error().message());
}

void run_parts(const ProcessSettings& settings, StopSignals& signals, const Log& log,
               const std::function<Parts(Store&, const Log&)>& begin) {
    const auto store = open(settings.store, log);
    const auto parts = begin(*store, log);
    count(*store, parts, "start", log);
    log(LogLevel::info, "started on " + settings.store.shown_url());
    for (const auto& part : parts) part->announce();

    signals.wait();
    log(LogLevel::info, "stopping");
    const auto deadline = system_clock().now() + from_seconds(settings.stop_grace);
    for (const auto& part : parts) part->stop(deadline);
    count(*store, parts, "stop", log);
}

}  // namespace

void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing) {
    declare_settings_file(app);
    declare_store(app, settings.store, sharing);
    app.add_flag("--allow-http-callbacks", settings.allow_http_callbacks,
                 "Let subscribers name http:// callbacks and this machine itself")
        ->envname("ROUTEMASTER_ALLOW_HTTP_CALLBACKS")
        ->group("Access");
    app.add_option("--stop-grace", settings.stop_grace,
                   "Seconds that requests and deliveries have to end when the process is stopped")
        ->check(CLI::Range(0.0, 600.0))
        ->envname("ROUTEMASTER_STOP_GRACE")
        ->capture_default_str();
    declare_log(app, settings.log);
}

int run_process(const ProcessSettings& settings,
                const std::function<Parts(Store&, const Log&)>& begin) {
    StopSignals signals;
    allow_many_connections();
    const auto log = open_log(settings.log);
    run_parts(settings, signals, log, begin);
    log(LogLevel::info, "stopped");
    return 0;
}

}  // namespace routemaster::service
