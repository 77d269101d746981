#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bus_client.hpp"
#include "command.hpp"
#include "request_body.hpp"

namespace routemaster::service {
namespace {

struct SubscribeSettings {
    BusSettings bus{};
    std::vector<std::string> topics;
    std::string callback;
    std::optional<std::string> uuid;
    std::optional<std::int64_t> timeout;
    std::optional<std::int64_t> events_max;
    std::optional<std::int64_t> in_flight_max;
    std::optional<std::int64_t> attempts_max;
    std::optional<std::int64_t> age_max;
    std::optional<std::int64_t> dead_max;
};

int subscribe(const SubscribeSettings& settings) {
    Value::Map wanted{{"topics", Value::Array{settings.topics.begin(), settings.topics.end()}},
                      {"callback", settings.callback}};
    const auto add = [&](const char* key, const auto& value) {
        if (value) wanted.emplace_back(key, Value{*value});
    };
    add("uuid", settings.uuid);
    add("timeout", settings.timeout);
    add("max", settings.events_max);
    add("max_in_flight", settings.in_flight_max);
    add("attempts_max", settings.attempts_max);
    add("age_max", settings.age_max);
    add("dead_max", settings.dead_max);
    const auto body = body_of(std::move(wanted));
    BusClient{settings.bus}.demand("POST", "/subscription", body);
    return 0;
}

}  // namespace

Run declare_subscribe(CLI::App& app) {
    const auto settings = std::make_shared<SubscribeSettings>();
    declare_bus(app, settings->bus);
    declare_client_token(app, settings->bus)->required();
    app.add_option("topics", settings->topics, "The topics, in place of those subscribed to before")
        ->required();
    app.add_option("--callback", settings->callback, "The URL to deliver batches to")
        ->required()
        ->type_name("URL");
    app.add_option(
           "--uuid", settings->uuid,
           "The user name that deliveries present [none, even if an earlier subscription had one]")
        ->type_name("NAME");
    app.add_option("--timeout", settings->timeout, "Milliseconds that a batch waits to fill")
        ->type_name("MS");
    app.add_option("--max", settings->events_max, "Events that fill a batch")->type_name("N");
    app.add_option("--max-in-flight", settings->in_flight_max,
                   "Batches under way at once; more than 1 gives up their order")
        ->type_name("N");
    app.add_option("--attempts-max", settings->attempts_max,
                   "Failed attempts after which a batch is DEAD; 0: never")
        ->type_name("N");
    app.add_option("--age-max", settings->age_max,
                   "Age in milliseconds at which a failed batch is DEAD; 0: never")
        ->type_name("MS");
    app.add_option("--dead-max", settings->dead_max,
                   "DEAD batches that are kept; beyond it the oldest are dropped")
        ->type_name("N");
    return [settings] { return subscribe(*settings); };
}

}  // namespace routemaster::service
