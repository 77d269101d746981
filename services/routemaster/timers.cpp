#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "components/seconds.hpp"
#include "components/whole_number.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "table.hpp"
#include "timer_settings.hpp"
#include "watch.hpp"

namespace routemaster::service {
namespace {

struct TimersSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    WatchSettings watch{};
    bool json = false;
    std::string space;
    std::string id;
    bool all = false;
    std::string state;
    std::uint64_t limit = 100;
    std::string payload;
    TimerDue due{};
    std::uint32_t retries_max = 0;
    std::optional<double> confirm_within;
    std::optional<std::uint32_t> retries;
    std::uint32_t take = 1;
    double wait = 0;
};

const std::array<std::string, 3> timer_states{"pending", "fired", "dead"};

std::string path_of(const TimersSettings& settings) { return "/v1/timers/" + settings.space; }

std::string path_of_timer(const BusClient& client, const TimersSettings& settings) {
    return path_of(settings) + "/" + client.encoded(settings.id);
}

// --- Reading ------------------------------------------------------------------------------------

int list_timers(const TimersSettings& settings) {
    BusClient client{settings.bus};
    auto left = settings.limit;
    Rows rows{{"ID", "STATE", "AT", "IN", "RETRIES", "PAYLOAD", "REASON"}};
    for (const auto& state : timer_states) {
        if (!settings.state.empty() && settings.state != state) continue;
        if (left == 0) break;
        for_each_item(client, path_of(settings) + "?state=" + state, [&](const Value& timer) {
            --left;
            if (settings.json) {
                std::cout << printed(timer) << '\n';
                return left > 0;
            }
            const auto& at = field(timer, "at");
            const auto* reason = timer.find("reason");
            rows.push_back(
                {cell(printed(field(timer, "id"))), state, printed_time(at),
                 state == "dead" ? "-" : printed_wait(at),
                 printed(field(timer, "retries")) + "/" + printed(field(timer, "retries_max")),
                 cell(printed(field(timer, "payload"))),
                 reason == nullptr ? "-" : cell(printed(*reason))});
            return left > 0;
        });
    }
    if (!settings.json) print_table(rows);
    return 0;
}

int show_timer(const TimersSettings& settings) {
    BusClient client{settings.bus};
    print_fields(client.demand("GET", path_of_timer(client, settings)).body, settings.json);
    return 0;
}

int explain_timer(const TimersSettings& settings) {
    BusClient client{settings.bus};
    const auto path =
        "/v1/timer_explanations/" + settings.space + "/" + client.encoded(settings.id);
    print_explanation("timer " + settings.id, "timer", client.demand("GET", path).body,
                      settings.json);
    return 0;
}

int show_stats(const TimersSettings& settings) {
    const auto body =
        BusClient{settings.bus}.demand("GET", "/v1/timer_counts/" + settings.space).body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto counts = parse_json(body).value();
    Rows rows{{"NAMESPACE", "PENDING", "FIRED", "DEAD", "LISTENERS", "NEXT"}, {settings.space}};
    for (const char* number : {"pending", "fired", "dead", "listeners"}) {
        rows.back().push_back(printed(field(counts, number)));
    }
    rows.back().push_back(printed_wait(field(counts, "next_due")));
    print_table(rows);
    return 0;
}

// --- Changing -----------------------------------------------------------------------------------

int post(const TimersSettings& settings) {
    Value::Map fields{{"payload", json_of("payload", settings.payload)},
                      {"retries_max", std::int64_t{settings.retries_max}}};
    add_due(settings.due, fields);
    if (!settings.id.empty()) fields.emplace_back("id", settings.id);
    add_confirm_within(settings.confirm_within, fields);
    const auto body = body_of(std::move(fields));
    print_posted(BusClient{settings.bus}.demand("POST", path_of(settings), body).body,
                 settings.json);
    return 0;
}

int cancel(const TimersSettings& settings) {
    BusClient client{settings.bus};
    client.demand("DELETE", path_of_timer(client, settings));
    return 0;
}

int postpone(const TimersSettings& settings) {
    Value::Map fields{{"id", settings.id}};
    add_due(settings.due, fields);
    BusClient{settings.bus}.demand("POST", path_of(settings) + "/postpone",
                                   body_of(std::move(fields)));
    return 0;
}

int take(const TimersSettings& settings) {
    Value::Map fields{{"limit", std::int64_t{settings.take}},
                      {"wait", from_seconds(settings.wait).count()}};
    add_confirm_within(settings.confirm_within, fields);
    const auto answer = BusClient{settings.bus}.demand("POST", path_of(settings) + "/take",
                                                       body_of(std::move(fields)));
    const auto taken = parse_json(answer.body).value();
    for (const auto& timer : elements(field(taken, "timers"))) std::cout << printed(timer) << '\n';
    return 0;
}

int confirm(const TimersSettings& settings) {
    Value::Map fields{{"id", settings.id}};
    if (settings.retries) fields.emplace_back("retries", std::int64_t{*settings.retries});
    BusClient{settings.bus}.demand("POST", path_of(settings) + "/confirm",
                                   body_of(std::move(fields)));
    return 0;
}

/// Applies an operation to one DEAD timer, or to all, and prints the number of changed timers.
int act_on_dead(const TimersSettings& settings, const std::string& action, const char* done) {
    if (!settings.id.empty() == settings.all) {
        throw CLI::ValidationError("id", "give the id of one timer, or --all");
    }
    const auto body = settings.all ? std::string{} : body_of({{"id", settings.id}});
    const auto answer =
        BusClient{settings.bus}.demand("POST", path_of(settings) + "/" + action, body).body;
    const auto timers = number(parse_json(answer).value(), "timers");
    if (timers == 0 && !settings.all) throw std::runtime_error{"timer not found, or not dead"};
    if (settings.json) {
        std::cout << answer << '\n';
    } else {
        std::cout << timers << done << '\n';
    }
    return 0;
}

int repost(const TimersSettings& settings) {
    return act_on_dead(settings, "repost", " timers are pending again");
}

int drop(const TimersSettings& settings) {
    return act_on_dead(settings, "drop", " timers were dropped");
}

// --- Declarations -------------------------------------------------------------------------------

CLI::Option* declare_id(CLI::App& action, TimersSettings& settings) {
    return action.add_option("id", settings.id, "The id of a timer")->check(check_not_empty);
}

void declare_post(CLI::App& action, TimersSettings& settings) {
    action.add_option("payload", settings.payload, "The payload of the timer")
        ->required()
        ->type_name("JSON");
    declare_due(action, settings.due, "the timer is due");
    declare_new_id(action, settings.id);
    declare_retries_max(action, settings.retries_max);
    declare_confirm_within(action, settings.confirm_within);
}

}  // namespace

Run declare_timers(CLI::App& app) {
    using Work = int (*)(const TimersSettings&);
    const auto settings = std::make_shared<TimersSettings>();
    const auto work = std::make_shared<Work>();
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one timer in each line");
    declare_watch(app, settings->watch);
    app.require_subcommand(1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary, Work action) -> CLI::App& {
        auto* const declared = app.add_subcommand(name, summary);
        declared->add_option("namespace", settings->space, "The namespace of the timers")
            ->required()
            ->check(check_timer_space);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    declare_post(declare("post", "Post a timer, and print its id", post), *settings);
    auto& listing = declare("list", "List timers, the next one first", list_timers);
    listing.add_option("--state", settings->state, "Only timers in this state")
        ->check(CLI::IsMember{timer_states});
    listing.add_option("--limit", settings->limit, "Timers to list at most")
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
    declare_id(declare("show", "Show a timer", show_timer), *settings)->required();
    declare_id(declare("explain", "Say why a timer has not fired", explain_timer), *settings)
        ->required();
    declare("stats", "Count the timers in each state, and the listeners", show_stats);
    declare_id(declare("cancel", "Forget a timer that has not been handled", cancel), *settings)
        ->required();
    auto& postponing = declare("postpone", "Give a timer another due time", postpone);
    declare_id(postponing, *settings)->required();
    declare_due(postponing, settings->due, "the timer is due");
    auto& taking = declare("take", "Take timers that are due, and print them as JSON", take);
    taking.add_option("--limit", settings->take, "Timers to take at most")
        ->check(whole_number(1, 100))
        ->capture_default_str();
    taking.add_option("--wait", settings->wait, "Seconds to wait for a timer")
        ->check(seconds(0.0, 30.0))
        ->capture_default_str();
    declare_confirm_within(taking, settings->confirm_within);
    auto& confirming = declare("confirm", "Confirm a timer that fired", confirm);
    declare_id(confirming, *settings)->required();
    confirming.add_option("--retries", settings->retries,
                          "Only the firing with this number of retries");
    for (auto* const action :
         {&declare("repost", "Let DEAD timers fire again, with all their retries", repost),
          &declare("drop", "Forget DEAD timers", drop)}) {
        declare_id(*action, *settings);
        action->add_flag("--all", settings->all, "All DEAD timers of the namespace");
    }

    return [settings, work] {
        settings->bus.token = require_root_key(settings->root_key);
        const bool looks = *work == list_timers || *work == show_timer || *work == explain_timer ||
                           *work == show_stats;
        if (settings->watch.watch && !looks) {
            throw CLI::ValidationError("--watch",
                                       "is only for commands that list, show or explain");
        }
        return show_as(settings->watch, [&] { return (*work)(*settings); });
    };
}

}  // namespace routemaster::service
