#include "components/process.hpp"

#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "components/seconds.hpp"
#include "components/setting_sources.hpp"
#include "components/settings_file.hpp"
#include "components/stop_signals.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/store/perform.hpp"
#include "routemaster/store/step.hpp"

namespace routemaster::service {
namespace {

void count(Store& store, const Components& components, const std::string& status, const Log& log) {
    AddToCounters step;
    for (const auto& component : components) {
        step.increments.push_back(
            {{"process", {{"status", status}, {"type", component->type()}}}, 1});
    }
    const auto reply = perform(store, std::move(step), system_clock().now());
    if (!reply)
        log(LogLevel::warning, "cannot count the " + status + ": " + reply.error().message());
}

bool answers(Store& store) {
    constexpr std::chrono::milliseconds timeout{900};
    const auto answered = std::make_shared<std::promise<bool>>();
    auto waiting = answered->get_future();
    submit(
        store, CountJobs{delivery_queue}, system_clock().now(),
        [answered](const Result<QueueStatus>& reply) { answered->set_value(bool{reply}); }, 0);
    return waiting.wait_for(timeout) == std::future_status::ready && waiting.get();
}

/// Warns about a limit of file sizes, because a store at the limit reports only a full disk.
void log_file_size_limit(const Log& log) {
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    log(LogLevel::warning, "files may take " + std::to_string(limit.rlim_cur) +
                               " bytes at most (`ulimit -f`, LimitFSIZE=): a larger store is "
                               "treated as if its disk were full");
}

void log_settings(const CLI::App& app, const Log& log) {
    if (const auto sources = setting_sources(app); !sources.empty()) {
        log(LogLevel::info, "settings: " + sources);
    }
    for (const auto& file : exposed_files(app)) {
        log(LogLevel::warning,
            file + " contains secrets and others can read it: chmod 600 " + file);
    }
}

/// Exits at once. If the store does not reply, no delivery can be settled, so waiting is useless.
/// Other processes recover the deliveries as after a crash.
void end_without_store(const Log& log) {
    log(LogLevel::warning,
        "stopped without the store, which does not reply; deliveries under way are not settled");
    std::cout.flush();
    std::_Exit(0);
}

/// A running process: its store and its components.
struct Running {
    std::unique_ptr<Store> store;
    Components components;
};

Running start(const ProcessSettings& settings, const DescriptorShares& shares,
              const StopSignals& signals, const Log& log, const Begin& begin) {
    const EndAtOnce at_once{signals,
                            [&log] { log(LogLevel::info, "stopped before it had started"); }};
    Running running{.store = open(settings.store, log), .components = {}};
    running.components = begin(*running.store, shares, log);
    count(*running.store, running.components, "start", log);
    return running;
}

void run_parts(const ProcessSettings& settings, const DescriptorShares& shares,
               StopSignals& signals, const Log& log, const Begin& begin) {
    const auto [store, components] = start(settings, shares, signals, log, begin);
    log_settings(*settings.app, log);
    log_file_size_limit(log);
    log(LogLevel::info, "started on " + settings.store.shown_url());
    for (const auto& component : components) component->announce();

    signals.wait();
    log(LogLevel::info, "stopping");
    if (settings.store.is_remote() && !answers(*store)) end_without_store(log);
    const auto deadline = system_clock().now() + from_seconds(settings.stop_grace);
    for (const auto& component : components) component->stop(deadline);
    count(*store, components, "stop", log);
}

}  // namespace

void declare_process(CLI::App& app, ProcessSettings& settings, Sharing sharing) {
    settings.app = &app;
    declare_settings_file(app);
    declare_store(app, settings.store, sharing);
    app.add_flag("--allow-http-callbacks", settings.allow_http_callbacks,
                 "Let subscribers use callbacks that are http:// or on this machine")
        ->envname("ROUTEMASTER_ALLOW_HTTP_CALLBACKS")
        ->group("Access");
    app.add_option("--stop-grace", settings.stop_grace,
                   "Seconds that requests and deliveries have to end when the process stops")
        ->check(seconds(0.0, 600.0))
        ->envname("ROUTEMASTER_STOP_GRACE")
        ->capture_default_str();
    declare_log(app, settings.log);
}

int run_process(const ProcessSettings& settings, const DescriptorShares& wanted,
                const Begin& begin) {
    const auto [log, reopen] = open_log(settings.log);
    StopSignals signals{reopen};
    const auto shares = claim_descriptors(wanted, log);
    run_parts(settings, shares, signals, log, begin);
    log(LogLevel::info, "stopped");
    return 0;
}

}  // namespace routemaster::service
