#include <iomanip>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"

namespace routemaster::service {
namespace {

struct TokenSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    std::string name;
    std::string token;
};

std::string text_of(const Value& object, std::string_view key) {
    const auto* value = object.find(key);
    const auto* text = value == nullptr ? nullptr : value->get_if<std::string>();
    if (text == nullptr) throw std::runtime_error{"the bus sent an unexpected answer"};
    return *text;
}

int add(const TokenSettings& settings) {
    Value::Map wanted{{"name", settings.name}};
    if (!settings.token.empty()) wanted.emplace_back("token", settings.token);
    const auto body = body_of(std::move(wanted));
    const auto answer = BusClient{settings.bus}.demand("POST", "/api_tokens", body);
    std::cout << text_of(parse_json(answer.body).value(), "token") << '\n';
    return 0;
}

template <class Take>
void for_each_token(BusClient& bus, const Take& take) {
    for (std::string path = "/api_tokens"; !path.empty();) {
        const auto answer = bus.demand("GET", path);
        // An empty body means that there are no tokens.
        if (answer.body.empty()) return;
        const auto tokens = parse_json(answer.body).value();
        const auto* entries = tokens.get_if<Value::Array>();
        if (entries == nullptr) throw std::runtime_error{"the bus sent an unexpected answer"};
        for (const auto& entry : *entries) take(entry);
        path = answer.next;
    }
}

int list(const TokenSettings& settings) {
    BusClient bus{settings.bus};
    for_each_token(bus, [](const Value& entry) {
        std::cout << std::left << std::setw(24) << text_of(entry, "name") << ' '
                  << text_of(entry, "token") << '\n';
    });
    return 0;
}

bool is_listed(BusClient& bus, const std::string& token) {
    bool listed = false;
    for_each_token(
        bus, [&](const Value& entry) { listed = listed || text_of(entry, "token") == token; });
    return listed;
}

/// Removes a token. The bus also accepts the removal of an unknown token, as Ruby Routemaster does,
/// because a subscriber with this token may still exist. This command reports it as an error.
int remove(const TokenSettings& settings) {
    BusClient bus{settings.bus};
    const bool known = is_listed(bus, settings.token);
    bus.demand("DELETE", "/api_tokens/" + settings.token);
    if (!known) throw std::runtime_error{"token not found"};
    return 0;
}

}  // namespace

Run declare_token(CLI::App& app) {
    const auto settings = std::make_shared<TokenSettings>();
    const auto run = std::make_shared<Run>();
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.require_subcommand(1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*work)(const TokenSettings&)) {
        auto* const action = app.add_subcommand(name, summary);
        action->callback([settings, run, work] {
            *run = [settings, work] {
                settings->bus.token = require_root_key(settings->root_key);
                return work(*settings);
            };
        });
        return action;
    };

    auto* const adding = declare("add", "Make a token for a client valid, and print it", add);
    adding->add_option("name", settings->name, "The name of the client")->required();
    adding->add_option("--token", settings->token, "The token [a random one]")
        ->check(check_not_empty)
        ->type_name("TOKEN");
    declare("list", "List the valid tokens", list);
    auto* const removing = declare("rm", "Make a token invalid and forget its subscriber", remove);
    removing->add_option("token", settings->token, "The token")->required()->check(check_not_empty);

    return [run] { return (*run)(); };
}

}  // namespace routemaster::service
