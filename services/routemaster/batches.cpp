#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "name_checks.hpp"
#include "routemaster/codec/json.hpp"
#include "table.hpp"
#include "watch.hpp"

namespace routemaster::service {
namespace {

struct BatchesSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    WatchSettings watch{};
    bool json = false;
    std::string subscriber;
    std::string batch;
};

/// Returns the token of the request: the client's own token, or the root key if a subscriber is
/// given.
std::string token_of(const BatchesSettings& settings) {
    if (!settings.subscriber.empty()) return require_root_key(settings.root_key);
    if (!settings.bus.token.empty()) return settings.bus.token;
    throw CLI::RequiredError("--token, or --subscriber");
}

/// Returns the path of the client's own queued batches, or of those of the given subscriber.
std::string path_of(const BatchesSettings& settings) {
    if (settings.subscriber.empty()) return "/v1/subscriber/batches";
    return "/v1/subscribers/" + settings.subscriber + "/batches";
}

/// Returns the header of the table whose rows `row_of_batch` creates.
Rows batch_rows() { return {{"BATCH", "EVENTS", "AGE", "STATE", "ATTEMPTS", "DUE IN", "ERROR"}}; }

std::vector<std::string> row_of_batch(const Value& batch) {
    std::vector<std::string> row{printed(field(batch, "uid")), printed(field(batch, "event_count")),
                                 printed_age(field(batch, "created_at"))};
    const bool current = field(batch, "current") == Value{true};
    row.push_back(printed(field(batch, "state")) + (current ? " (current)" : ""));
    row.push_back(printed(field(batch, "attempts")));
    row.push_back(printed_wait(field(batch, "run_at")));
    const auto& error = field(batch, "error");
    row.push_back(error == Value{} ? "-" : cell(printed(error)));
    return row;
}

int list_batches(const BatchesSettings& settings) {
    BusClient client{settings.bus};
    auto rows = batch_rows();
    for_each_item(client, path_of(settings), [&](const Value& batch) {
        if (settings.json) {
            std::cout << printed(batch) << '\n';
        } else {
            rows.push_back(row_of_batch(batch));
        }
        return true;
    });
    if (!settings.json) print_table(rows);
    return 0;
}

std::string path_of_batch(const BatchesSettings& settings) {
    return path_of(settings) + "/" + settings.batch;
}

int show_batch(const BatchesSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of_batch(settings)).body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    auto rows = batch_rows();
    rows.push_back(row_of_batch(parse_json(body).value()));
    print_table(rows);
    return 0;
}

int explain_batch(const BatchesSettings& settings) {
    const auto path = path_of_batch(settings) + "/explanation";
    print_explanation("batch " + settings.batch, "batch",
                      BusClient{settings.bus}.demand("GET", path).body, settings.json);
    return 0;
}

int deliver(const BatchesSettings& settings) {
    BusClient{settings.bus}.demand("POST", path_of_batch(settings) + "/deliver");
    return 0;
}

int drop(const BatchesSettings& settings) {
    BusClient{settings.bus}.demand("DELETE", path_of_batch(settings));
    return 0;
}

void declare_batch(CLI::App& action, BatchesSettings& settings) {
    action.add_option("batch", settings.batch, "The id of a batch, after -- if it begins with -")
        ->check(check_not_empty)
        ->type_name("UID")
        ->required();
}

}  // namespace

Run declare_batches(CLI::App& app) {
    const auto settings = std::make_shared<BatchesSettings>();
    const auto work = std::make_shared<int (*)(const BatchesSettings&)>(list_batches);
    declare_bus(app, settings->bus);
    declare_client_token(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_option("--subscriber", settings->subscriber,
                   "The token of the subscriber, for the operator [that of --token]")
        ->check(check_not_empty)
        ->type_name("TOKEN");
    app.add_flag("--json", settings->json, "Print JSON, one batch in each line");
    declare_watch(app, settings->watch);
    app.require_subcommand(0, 1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*action)(const BatchesSettings&)) -> CLI::App& {
        auto* const declared = app.add_subcommand(name, summary);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    declare("list", "List the batches that wait or are under way; without a command as well",
            list_batches);
    declare_batch(declare("show", "Show a batch", show_batch), *settings);
    declare_batch(declare("explain", "Say why a batch is not delivered yet", explain_batch),
                  *settings);
    declare_batch(
        declare("deliver", "Deliver a waiting batch now, after the batches before it", deliver),
        *settings);
    declare_batch(declare("drop", "Drop a batch for good", drop), *settings);

    return [settings, work] {
        settings->bus.token = token_of(*settings);
        const bool looks = *work == list_batches || *work == show_batch || *work == explain_batch;
        if (settings->watch.watch && !looks) {
            throw CLI::ValidationError("--watch",
                                       "is only for commands that list, show or explain");
        }
        return show_as(settings->watch, [&] { return (*work)(*settings); });
    };
}

}  // namespace routemaster::service
