#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "name_checks.hpp"
#include "routemaster/codec/json.hpp"

namespace routemaster::service {
namespace {

struct DeadSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    std::string subscriber;
    std::string batch;
    bool all = false;
};

/// Returns the token of the request: the client's own token, or the root key if a subscriber is
/// given. `--token` may also contain the root key.
std::string token_of(const DeadSettings& settings) {
    const bool root = !settings.subscriber.empty();
    auto token = root ? find_root_key(settings.root_key) : std::string{};
    if (token.empty()) token = settings.bus.token;
    if (!token.empty()) return token;
    throw CLI::RequiredError(root ? "--root-key or --root-key-file" : "--token");
}

/// Returns the path of the client's own DEAD batches, or of those of the given subscriber.
std::string path_of(const DeadSettings& settings) {
    if (settings.subscriber.empty()) return "/subscriber/dead";
    return "/subscribers/" + settings.subscriber + "/dead";
}

void print_status(const Value& batch) {
    std::cout << printed(field(batch, "uid")) << " died_at=" << printed(field(batch, "died_at"))
              << " attempts=" << printed(field(batch, "attempts"))
              << " events=" << printed(field(batch, "event_count")) << " error=";
    std::string error;
    append_json(error, field(batch, "error"));
    std::cout << error << '\n';
}

int list(const DeadSettings& settings) {
    BusClient client{settings.bus};
    for_each_item(client, path_of(settings), [](const Value& batch) {
        print_status(batch);
        return true;
    });
    return 0;
}

int show(const DeadSettings& settings) {
    const auto path = path_of(settings) + "/" + settings.batch;
    std::cout << BusClient{settings.bus}.demand("GET", path).body << '\n';
    return 0;
}

/// Rejects a command unless its target is either one batch or `--all`.
void check_choice(const DeadSettings& settings) {
    if (settings.batch.empty() == settings.all) return;
    throw CLI::ValidationError("batch", "give the id of one batch, or --all");
}

int redeliver(const DeadSettings& settings) {
    check_choice(settings);
    BusClient client{settings.bus};
    if (!settings.all) {
        client.demand("POST", path_of(settings) + "/" + settings.batch + "/redeliver");
        return 0;
    }
    const auto answer = client.demand("POST", path_of(settings) + "/redeliver");
    const auto counts = parse_json(answer.body).value();
    std::cout << printed(field(counts, "batches")) << " batches are delivered again\n";
    return 0;
}

int drop(const DeadSettings& settings) {
    check_choice(settings);
    BusClient client{settings.bus};
    if (!settings.all) {
        client.demand("DELETE", path_of(settings) + "/" + settings.batch);
        return 0;
    }
    const auto counts = parse_json(client.demand("DELETE", path_of(settings)).body).value();
    std::cout << printed(field(counts, "batches")) << " batches with "
              << printed(field(counts, "events")) << " events are dropped\n";
    return 0;
}

}  // namespace

Run declare_dead(CLI::App& app) {
    const auto settings = std::make_shared<DeadSettings>();
    const auto run = std::make_shared<Run>();
    declare_bus(app, settings->bus);
    declare_client_token(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_option("--subscriber", settings->subscriber,
                   "The token of the subscriber, for the operator [that of --token]")
        ->check(check_not_empty)
        ->type_name("TOKEN");
    app.require_subcommand(1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*work)(const DeadSettings&)) {
        auto* const action = app.add_subcommand(name, summary);
        action->callback([settings, run, work] {
            *run = [settings, work] {
                settings->bus.token = token_of(*settings);
                return work(*settings);
            };
        });
        return action;
    };
    const auto declare_batch = [&](CLI::App& action) {
        return action
            .add_option("batch", settings->batch, "The id of a batch, after -- if it begins with -")
            ->check(check_not_empty)
            ->type_name("UID");
    };
    const auto declare_all = [&](CLI::App& action) {
        action.add_flag("--all", settings->all, "All DEAD batches of the subscriber");
    };

    declare("list", "List the DEAD batches, those that died first at the front", list);
    declare_batch(*declare("show", "Print a batch with its events, as JSON", show))->required();
    auto* const redelivering =
        declare("redeliver", "Deliver a batch again, after the queued batches", redeliver);
    declare_batch(*redelivering);
    declare_all(*redelivering);
    auto* const dropping = declare("drop", "Drop a batch for good", drop);
    declare_batch(*dropping);
    declare_all(*dropping);

    return [run] { return (*run)(); };
}

}  // namespace routemaster::service
