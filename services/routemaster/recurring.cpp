#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "job_object.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "table.hpp"
#include "timer_settings.hpp"

namespace routemaster::service {
namespace {

struct RecurringSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    bool json = false;
    std::string name;
    std::string schedule;
    std::string time_zone = "UTC";
    std::string queue;
    std::string job;
    std::string arguments;
    std::string options;
    std::string catch_up = "once";
    bool overlap = false;
    std::string space;
    std::string payload;
    std::string action;
    std::uint32_t retries_max = 0;
    std::optional<double> confirm_within;
};

std::string path_of(const RecurringSettings& settings) { return "/v1/recurring/" + settings.name; }

/// Returns the target of the ticks: a queue, the path of a namespace of timers, or `actions`.
std::string target_of(const Value& one) {
    if (one.find("action") != nullptr) return "actions";
    const auto* timer = one.find("timer");
    return timer == nullptr ? printed(field(one, "queue"))
                            : "timers/" + printed(field(*timer, "namespace"));
}

/// Returns what a tick pushes or posts: the name of a job, the payload of a timer, or an action.
std::string content_of(const Value& one) {
    if (const auto* action = one.find("action")) return printed(*action);
    const auto* timer = one.find("timer");
    return timer == nullptr ? printed(field(field(one, "job"), "name"))
                            : printed(field(*timer, "payload"));
}

int list(const RecurringSettings& settings) {
    BusClient client{settings.bus};
    Rows rows{{"NAME", "SCHEDULE", "ZONE", "QUEUE", "NEXT", "LAST", "RUNS", "JOB"}};
    for_each_item(client, "/v1/recurring", [&](const Value& one) {
        if (settings.json) {
            std::cout << printed(one) << '\n';
            return true;
        }
        const bool paused = printed(field(one, "paused")) == "true";
        rows.push_back({printed(field(one, "name")), cell(printed(field(one, "schedule"))),
                        printed(field(one, "time_zone")), target_of(one),
                        paused ? "paused" : printed_time(field(one, "next_at")),
                        printed_time(field(one, "last_at")), printed(field(one, "runs")),
                        cell(content_of(one))});
        return true;
    });
    if (!settings.json) print_table(rows);
    return 0;
}

int show(const RecurringSettings& settings) {
    print_fields(BusClient{settings.bus}.demand("GET", path_of(settings)).body, settings.json);
    return 0;
}

int explain(const RecurringSettings& settings) {
    const auto body =
        BusClient{settings.bus}.demand("GET", path_of(settings) + "/explanation").body;
    print_explanation("recurring job " + settings.name, {}, body, settings.json);
    return 0;
}

/// Creates or changes a recurring job or timer. `fields` describe what its ticks push or post.
int put_with(const RecurringSettings& settings, Value::Map fields) {
    fields.emplace_back("schedule", settings.schedule);
    fields.emplace_back("time_zone", settings.time_zone);
    fields.emplace_back("catch_up", settings.catch_up);
    fields.emplace_back("overlap", settings.overlap);
    const auto body = body_of(std::move(fields));
    BusClient{settings.bus}.demand("PUT", path_of(settings), body);
    return 0;
}

int put(const RecurringSettings& settings) {
    auto job = job_object(settings.job, settings.arguments, settings.options);
    return put_with(settings, {{"queue", settings.queue}, {"job", std::move(job)}});
}

int put_timer(const RecurringSettings& settings) {
    Value::Map timer{{"namespace", settings.space},
                     {"payload", json_of("payload", settings.payload)},
                     {"retries_max", std::int64_t{settings.retries_max}}};
    add_confirm_within(settings.confirm_within, timer);
    return put_with(settings, {{"timer", std::move(timer)}});
}

int put_action(const RecurringSettings& settings) {
    return put_with(settings, {{"action", json_of("action", settings.action)}});
}

int pause(const RecurringSettings& settings) {
    BusClient{settings.bus}.demand("POST", path_of(settings) + "/pause");
    return 0;
}

int resume(const RecurringSettings& settings) {
    BusClient{settings.bus}.demand("POST", path_of(settings) + "/resume");
    return 0;
}

int run_now(const RecurringSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("POST", path_of(settings) + "/run").body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto pushed = parse_json(body).value();
    // For a timer, the response contains no id.
    const auto& id = field(pushed, "id");
    if (!id.is_null()) std::cout << printed(id) << ' ';
    std::cout << printed(field(pushed, "outcome")) << '\n';
    return 0;
}

int remove(const RecurringSettings& settings) {
    BusClient{settings.bus}.demand("DELETE", path_of(settings));
    return 0;
}

void declare_schedule(CLI::App& action, RecurringSettings& settings) {
    action
        .add_option("schedule", settings.schedule,
                    "A cron expression, or an interval such as '@every 10s'")
        ->required();
    action
        .add_option("--time-zone", settings.time_zone,
                    "Time zone of the schedule, such as Europe/Berlin")
        ->capture_default_str();
    action
        .add_option("--catch-up", settings.catch_up,
                    "Which missed ticks run: none, the last, or all")
        ->check(CLI::IsMember{{"skip", "once", "all"}})
        ->capture_default_str();
}

void declare_put(CLI::App& action, RecurringSettings& settings) {
    declare_schedule(action, settings);
    action.add_option("queue", settings.queue, "The queue of the pushed jobs")->required();
    action.add_option("job", settings.job, "The name of the pushed jobs")->required();
    action.add_option("arguments", settings.arguments, "The arguments of the jobs: an array [[]]")
        ->check(check_not_empty)
        ->type_name("JSON");
    action.add_flag("--overlap", settings.overlap,
                    "Push at each tick, even if the job of an earlier tick still exists");
    action
        .add_option("--options", settings.options,
                    "Further fields of a push: {\"attempts_max\":…,\"timeout\":…,…}")
        ->check(check_not_empty)
        ->type_name("JSON");
}

void declare_put_timer(CLI::App& action, RecurringSettings& settings) {
    declare_schedule(action, settings);
    action.add_option("namespace", settings.space, "The namespace of the timers")
        ->required()
        ->check(check_timer_space);
    action.add_option("payload", settings.payload, "The payload of the timers")
        ->required()
        ->type_name("JSON");
    action.add_flag("--overlap", settings.overlap,
                    "Post at each tick, even if the timer of an earlier tick still exists");
    declare_retries_max(action, settings.retries_max);
    declare_confirm_within(action, settings.confirm_within);
}

void declare_put_action(CLI::App& action, RecurringSettings& settings) {
    declare_schedule(action, settings);
    action
        .add_option("action", settings.action,
                    "What each tick does: {\"push\":{…}}, {\"publish\":{…}} or {\"deliver\":{…}}, "
                    "as of 'routemaster actions'")
        ->required()
        ->type_name("JSON");
    action.add_flag(
        "--overlap", settings.overlap,
        "Run the action at each tick, even if the action of an earlier tick has not run yet");
}

}  // namespace

Run declare_recurring(CLI::App& app) {
    const auto settings = std::make_shared<RecurringSettings>();
    const auto run = std::make_shared<Run>();
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one recurring job in each line");
    app.require_subcommand(1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*work)(const RecurringSettings&)) -> CLI::App& {
        auto* const action = app.add_subcommand(name, summary);
        action->callback([settings, run, work] {
            *run = [settings, work] {
                settings->bus.token = require_root_key(settings->root_key);
                return work(*settings);
            };
        });
        return *action;
    };
    const auto with_name = [&](CLI::App& action) -> CLI::App& {
        action.add_option("name", settings->name, "The name of the recurring job")
            ->required()
            ->check(check_queue_name);
        return action;
    };
    declare("list", "List the recurring jobs", list);
    with_name(declare("show", "Show a recurring job", show));
    with_name(declare("explain", "Say what a recurring job waits for", explain));
    declare_put(with_name(declare("put", "Add a recurring job, or change one", put)), *settings);
    declare_put_timer(
        with_name(declare("put-timer", "Add a recurring timer, or change one", put_timer)),
        *settings);
    declare_put_action(
        with_name(declare("put-action", "Add a recurring action, or change one", put_action)),
        *settings);
    with_name(declare("pause", "Stop the ticks of a recurring job", pause));
    with_name(declare("resume", "Let the ticks of a recurring job run from now on", resume));
    with_name(declare("run", "Push the job, or post the timer, of a recurring job now", run_now));
    with_name(declare("remove", "Forget a recurring job", remove));

    return [run] { return (*run)(); };
}

}  // namespace routemaster::service
