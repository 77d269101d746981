#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "command.hpp"
#include "listen_settings.hpp"
#include "log.hpp"
#include "routemaster/clock.hpp"
#include "routemaster/dispatcher.hpp"
#include "routemaster/open_store.hpp"
#include "routemaster/runner.hpp"
#include "routemaster/server/http_api.hpp"
#include "routemaster/server/http_server.hpp"
#include "routemaster/step.hpp"
#include "routemaster/store.hpp"
#include "routemaster/transport/http.hpp"
#include "serve_settings.hpp"
#include "stop_signals.hpp"

namespace routemaster::service {
namespace {

HttpTransportOptions transport_options(const ServeSettings& settings, const Log& log) {
    return {.connect_timeout = from_seconds(settings.connect_timeout),
            .total_timeout = from_seconds(settings.delivery_timeout),
            .verify_tls = settings.verify_tls,
            .allow_http = settings.allow_http_callbacks,
            .allow_loopback = settings.allow_http_callbacks,
            .connections_max = settings.deliveries_max,
            .log = log};
}

HttpApiOptions api_options(const ServeSettings& settings, const Log& log) {
    return {.root_key = settings.root_key,
            .allow_http_callbacks = settings.allow_http_callbacks,
            .event_data_max = settings.event_data_max,
            .topics_max = settings.topics_max,
            .scaling_deadline = Duration{settings.scaling_deadline},
            .scaling_threshold = settings.scaling_threshold,
            .log = log};
}

HttpServerOptions server_options(const ServeSettings& settings, const Log& log) {
    return {.address = settings.listening.endpoint.address,
            .port = settings.listening.effective_port(),
            .body_max = settings.body_max,
            .connections_max = settings.connections_max,
            .log = log};
}

/// Lets the process have as many connections as the machine allows. The usual limit, meant for
/// programs that use select(), is far below our own settings.
void allow_many_connections() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

std::unique_ptr<Store> open(const ServeSettings& settings, const Log& log) {
    if (settings.store.empty()) {
        std::error_code failed;
        std::filesystem::create_directories(settings.data_dir, failed);
        if (failed) throw Failure{Error{failed, "cannot make the folder " + settings.data_dir}};
    }
    return open_store(settings.store_url(), log).value();
}

void import_clients(Store& store, const std::vector<std::string>& clients) {
    for (const auto& token : clients) {
        PutToken step{.token = token, .name = token.substr(0, token.find("--"))};
        const auto reply = perform(store, std::move(step), system_clock().now());
        if (!reply) {
            throw Failure{Error{reply.error().code(),
                                "--clients: '" + token + "': " + reply.error().context()}};
        }
    }
}

/// Counts a start or stop. The one process is what the original has two kinds of.
void count_process(Store& store, const std::string& status, const Log& log) {
    AddToCounters step;
    for (const auto* type : {"web", "worker"}) {
        step.increments.push_back({{"process", {{"status", status}, {"type", type}}}, 1});
    }
    const auto reply = perform(store, std::move(step), system_clock().now());
    if (!reply)
        log(LogLevel::warning, "cannot count the " + status + ": " + reply.error().message());
}

/// Lets requests and deliveries end, both within the same grace.
void stop(HttpServer& server, Runner& runner, Duration grace) {
    const auto deadline = system_clock().now() + grace;
    server.stop(grace);
    runner.stop(std::max(deadline - system_clock().now(), Duration{0}));
}

void run_bus(const ServeSettings& settings, StopSignals& signals, const Log& log) {
    const auto store = open(settings, log);
    import_clients(*store, settings.clients);

    HttpApi api{*store, api_options(settings, log)};
    HttpTransport transport{transport_options(settings, log)};
    Dispatcher dispatcher{*store,
                          {.transports = {&transport},
                           .in_flight_max = settings.deliveries_max,
                           .health = settings.health,
                           .log = log}};
    HttpServer server{server_options(settings, log),
                      [&api](HttpRequest request, HttpResponder respond) {
                          api.handle(std::move(request), std::move(respond));
                      }};
    count_process(*store, "start", log);
    Runner runner{dispatcher};
    log(LogLevel::info, "started on " + settings.store_url());
    announce_listening(settings.listening.endpoint.address, server.port());

    signals.wait();
    log(LogLevel::info, "stopping");
    stop(server, runner, from_seconds(settings.stop_grace));
    count_process(*store, "stop", log);
}

int serve(const ServeSettings& settings) {
    StopSignals signals;
    allow_many_connections();
    const auto log = open_log(settings.log);
    run_bus(settings, signals, log);
    log(LogLevel::info, "stopped");
    return 0;
}

}  // namespace

Run declare_serve(CLI::App& app) {
    const auto settings = std::make_shared<ServeSettings>();
    declare_settings(app, *settings);
    return [settings] { return serve(*settings); };
}

}  // namespace routemaster::service
