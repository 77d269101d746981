#include "serve_settings.hpp"

#include <cmath>
#include <filesystem>

#include "settings_file.hpp"

namespace routemaster::service {
namespace {

/// A number of seconds from a millisecond to ten minutes.
CLI::Validator seconds() { return CLI::Range(0.001, 600.0); }

void declare_http(CLI::App& app, ServeSettings& settings) {
    declare_listening(app, settings.listening, "ROUTEMASTER_LISTEN", "PORT");
    app.add_option("--body-max", settings.body_max, "Largest body of a request, in bytes")
        ->check(CLI::Range(1, 1 << 30))
        ->envname("ROUTEMASTER_BODY_MAX")
        ->capture_default_str();
    app.add_option("--connections-max", settings.connections_max, "Connections held at once")
        ->check(CLI::Range(1, 1'000'000))
        ->envname("ROUTEMASTER_CONNECTIONS_MAX")
        ->capture_default_str();
    app.add_option("--scaling-threshold", settings.scaling_threshold,
                   "Jobs from which GET /pulse/scaling tells of load")
        ->check(CLI::Range(1, 1'000'000'000))
        ->envname("ROUTEMASTER_SCALING_THRESHOLD")
        ->capture_default_str();
    app.add_option("--scaling-deadline", settings.scaling_deadline,
                   "Milliseconds that it looks ahead")
        ->check(CLI::Range(0, 3'600'000))
        ->envname("ROUTEMASTER_SCALING_DEADLINE")
        ->capture_default_str();
}

void declare_data(CLI::App& app, ServeSettings& settings) {
    app.add_option("--data-dir", settings.data_dir, "Folder of the file routemaster.db")
        ->type_name("FOLDER")
        ->envname("ROUTEMASTER_DATA_DIR")
        ->capture_default_str()
        ->group("Data");
    app.add_option("--store", settings.store,
                   "memory:, file:PATH or file:PATH?durability=relaxed, instead of --data-dir")
        ->type_name("URL")
        ->envname("ROUTEMASTER_STORE")
        ->group("Data");
    app.add_option("--event-data-max", settings.event_data_max,
                   "Bytes of MessagePack that the data of an event may take")
        ->check(CLI::Range(0, 1 << 30))
        ->envname("ROUTEMASTER_MAX_EVENT_DATA")
        ->capture_default_str()
        ->group("Data");
    app.add_option("--topics-max", settings.topics_max, "Topics that one subscriber may have")
        ->check(CLI::Range(1, 1'000'000))
        ->envname("ROUTEMASTER_TOPICS_MAX")
        ->capture_default_str()
        ->group("Data");
}

void declare_access(CLI::App& app, ServeSettings& settings) {
    app.add_option("--root-key", settings.root_key, "The operator's token")
        ->required()
        ->type_name("TOKEN")
        ->check([](const std::string& key) { return key.empty() ? "must not be empty" : ""; })
        ->envname("ROUTEMASTER_ROOT_KEY")
        ->group("Access");
    app.add_option("--clients", settings.clients,
                   "Tokens to let in, with commas between them; what stands before -- is the name")
        ->type_name("TOKEN,...")
        ->delimiter(',')
        ->envname("ROUTEMASTER_CLIENTS")
        ->group("Access");
    app.add_flag("--allow-http-callbacks", settings.allow_http_callbacks,
                 "Let subscribers name http:// callbacks and this machine itself")
        ->envname("ROUTEMASTER_ALLOW_HTTP_CALLBACKS")
        ->group("Access");
}

void declare_delivery(CLI::App& app, ServeSettings& settings) {
    const auto* const group = "Delivery";
    app.add_option("--connect-timeout", settings.connect_timeout, "Seconds")
        ->check(seconds())
        ->envname("ROUTEMASTER_CONNECT_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--delivery-timeout", settings.delivery_timeout, "Seconds, from start to end")
        ->check(seconds())
        ->envname("ROUTEMASTER_TIMEOUT")
        ->capture_default_str()
        ->group(group);
    app.add_option("--ssl-verify", settings.verify_tls, "Check the certificates of subscribers")
        ->type_name("YES|NO")
        ->envname("ROUTEMASTER_SSL_VERIFY")
        ->capture_default_str()
        ->group(group);
    app.add_option("--deliveries-max", settings.deliveries_max, "Deliveries under way at once")
        ->check(CLI::Range(1, 1'000'000))
        ->envname("ROUTEMASTER_DELIVERIES_MAX")
        ->capture_default_str()
        ->group(group);
    app.add_option("--heal-rate", settings.health.heal_rate,
                   "Health that a subscriber gains by a success")
        ->check(CLI::Range(1, 100))
        ->envname("ROUTEMASTER_HP_HEAL_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option("--damage-rate", settings.health.damage_rate,
                   "Health that it gains by a failure")
        ->check(CLI::Range(-100, -1))
        ->envname("ROUTEMASTER_HP_DAMAGE_RATE")
        ->capture_default_str()
        ->group(group);
    app.add_option_function<std::int64_t>(
           "--max-backoff",
           [&settings](std::int64_t wait) { settings.health.backoff_max = Duration{wait}; },
           "Longest wait between attempts, in milliseconds")
        ->check(CLI::Range(1, 600'000))
        ->envname("MAX_BACKOFF_MS")
        ->default_str(std::to_string(settings.health.backoff_max.count()))
        ->group(group);
}

}  // namespace

std::string ServeSettings::store_url() const {
    if (!store.empty()) return store;
    return "file:" + (std::filesystem::path{data_dir} / "routemaster.db").string();
}

void declare_settings(CLI::App& app, ServeSettings& settings) {
    declare_settings_file(app);
    declare_http(app, settings);
    declare_data(app, settings);
    declare_access(app, settings);
    declare_delivery(app, settings);
    app.add_option("--stop-grace", settings.stop_grace,
                   "Seconds that requests and deliveries have to end when the bus is stopped")
        ->check(CLI::Range(0.0, 600.0))
        ->envname("ROUTEMASTER_STOP_GRACE")
        ->capture_default_str();
    declare_log(app, settings.log);
}

Duration from_seconds(double seconds) { return Duration{std::llround(seconds * 1'000)}; }

}  // namespace routemaster::service
