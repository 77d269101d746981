#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "components/whole_number.hpp"
#include "job_object.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/job.hpp"
#include "routemaster/printable_text.hpp"
#include "table.hpp"

namespace routemaster::service {
namespace {

struct JobsSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    std::string queue;
    std::string state;
    std::uint64_t limit = 0;
    bool json = false;
    std::uint64_t id = 0;
    bool all = false;
    std::string name;
    std::string arguments;
    std::string options;
    std::int32_t priority = 0;
    std::string group;
    std::uint32_t concurrency = 1;
    std::string idempotency_key;
};

const std::array<std::string, 4> job_states{"scheduled", "ready", "pending", "buried"};

std::string path_of(const JobsSettings& settings) { return "/v1/queues/" + settings.queue; }

std::string path_of_job(const JobsSettings& settings) {
    return path_of(settings) + "/jobs/" + std::to_string(settings.id);
}

// --- Actions ------------------------------------------------------------------------------------

std::string last_error(const Value& job) {
    const auto& errors = elements(field(job, "errors"));
    return errors.empty() ? "-" : printed(field(errors.back(), "text"));
}

/// Formats the due time of a job, or the jobs on which it depends.
std::string due(const Value& job) {
    const auto& others = elements(field(job, "after"));
    if (others.empty()) return printed_time(field(job, "run_at"));
    if (others.size() == 1) return "after job " + printed(others.front());
    return "after " + std::to_string(others.size()) + " jobs";
}

std::string group(const Value& job) {
    const auto& name = field(job, "group");
    return name.is_null() ? "-" : cell(printed(name));
}

int list(const JobsSettings& settings) {
    BusClient client{settings.bus};
    auto left = settings.limit;
    std::string filter;
    if (!settings.name.empty()) filter += "&name=" + client.encoded(settings.name);
    if (!settings.group.empty()) filter += "&group=" + client.encoded(settings.group);
    Rows rows{
        {"ID", "STATE", "PRIORITY", "GROUP", "ATTEMPTS", "DUE", "NAME", "ARGUMENTS", "ERROR"}};
    for (const auto& state : job_states) {
        if (!settings.state.empty() && settings.state != state) continue;
        if (left == 0) break;
        const auto path = path_of(settings) + "/jobs?state=" + state + filter;
        for_each_item(client, path, [&](const Value& job) {
            --left;
            if (settings.json) {
                std::cout << printed(job) << '\n';
                return left > 0;
            }
            rows.push_back(
                {printed(field(job, "id")), state, printed(field(job, "priority")), group(job),
                 printed(field(job, "attempts")) + "/" + printed(field(job, "attempts_max")),
                 due(job), cell(printed(field(job, "name"))),
                 cell(printed(field(job, "arguments"))), cell(last_error(job))});
            return left > 0;
        });
    }
    if (!settings.json) print_table(rows);
    return 0;
}

int show(const JobsSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of_job(settings)).body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto job = parse_json(body).value();
    Rows rows;
    for (const auto& [key, value] : *job.get_if<Value::Map>()) {
        if (key == "errors") continue;
        const bool time = key.ends_with("_at");
        rows.push_back({key, time ? printed_time(value) : printable_text(printed(value))});
    }
    print_table(rows);
    for (const auto& error : elements(field(job, "errors"))) {
        std::cout << "attempt " << printed(field(error, "attempt")) << " failed at "
                  << printed_time(field(error, "at")) << ": "
                  << printable_text(printed(field(error, "text"))) << '\n';
    }
    return 0;
}

int explain(const JobsSettings& settings) {
    const auto body =
        BusClient{settings.bus}.demand("GET", path_of_job(settings) + "/explanation").body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto all = parse_json(body).value();
    const auto& job = field(all, "job");
    std::cout << "job " << settings.id << " is " << printed(field(job, "state")) << ": "
              << printable_text(printed(field(all, "text"))) << '\n';
    Rows rows;
    const auto add_time = [&rows](const char* name, const Value& at) {
        if (!at.is_null()) rows.push_back({name, printed_time(at)});
    };
    add_time("due at", field(job, "run_at"));
    add_time("limited until", field(all, "limited_until"));
    add_time("leased at", field(all, "leased_at"));
    add_time("worker heard of at", field(all, "heard_at"));
    add_time("expires at", field(job, "expires_at"));
    add_time("buried at", field(job, "buried_at"));
    if (!rows.empty()) print_table(rows);
    return 0;
}

int count(const JobsSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of(settings)).body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto counts = parse_json(body).value();
    Rows rows{{"QUEUE", "SCHEDULED", "READY", "PENDING", "BURIED"}, {settings.queue}};
    for (const auto& state : job_states) rows.back().push_back(printed(field(counts, state)));
    print_table(rows);
    return 0;
}

int push(const JobsSettings& settings) {
    auto job = job_object(settings.name, settings.arguments, settings.options);
    const auto add = [&job](const std::string& name, Value value) {
        const auto is_same = [&name](const auto& field) { return field.first == name; };
        if (std::any_of(job.begin(), job.end(), is_same)) {
            throw CLI::ValidationError("--" + name, "conflicts with a field of --options");
        }
        job.emplace_back(name, std::move(value));
    };
    if (settings.priority != 0) add("priority", std::int64_t{settings.priority});
    if (!settings.group.empty()) add("group", settings.group);
    if (settings.concurrency != 1) add("concurrency", std::int64_t{settings.concurrency});
    const auto body = body_of(std::move(job));
    BusClient client{settings.bus};
    if (!settings.idempotency_key.empty()) {
        client.add_header("Idempotency-Key", settings.idempotency_key);
    }
    const auto answer = client.demand("POST", path_of(settings) + "/jobs", body);
    if (settings.json) {
        std::cout << answer.body << '\n';
        return 0;
    }
    const auto pushed = parse_json(answer.body).value();
    std::cout << printed(field(pushed, "id")) << ' ' << printed(field(pushed, "outcome")) << '\n';
    return 0;
}

int kick(const JobsSettings& settings) {
    if ((settings.id != 0) == settings.all) {
        throw CLI::ValidationError("id", "give the id of one job, or --all");
    }
    BusClient client{settings.bus};
    if (!settings.all) {
        client.demand("POST", path_of_job(settings) + "/kick");
        return 0;
    }
    // Kicks as many jobs as are BURIED now, so that a job that fails again in the meantime is not
    // kicked twice.
    const auto counts = parse_json(client.demand("GET", path_of(settings)).body).value();
    auto left = number(counts, "buried");
    std::int64_t kicked = 0;
    while (left > 0) {
        const auto body =
            R"({"limit":)" + std::to_string(std::min<std::int64_t>(left, 1'000)) + "}";
        const auto answer = client.demand("POST", path_of(settings) + "/kick", body);
        const auto jobs = number(parse_json(answer.body).value(), "jobs");
        if (jobs == 0) break;
        kicked += jobs;
        left -= jobs;
    }
    if (settings.json) {
        std::cout << body_of({{"jobs", kicked}}) << '\n';
    } else {
        std::cout << kicked << " jobs run again\n";
    }
    return 0;
}

int cancel(const JobsSettings& settings) {
    const auto answer =
        BusClient{settings.bus}.demand("POST", path_of_job(settings) + "/cancel").body;
    std::cout << (settings.json ? answer : printed(field(parse_json(answer).value(), "outcome")))
              << '\n';
    return 0;
}

int remove(const JobsSettings& settings) {
    BusClient{settings.bus}.demand("DELETE", path_of_job(settings));
    return 0;
}

/// Handles `routemaster jobs` without a subcommand. Similar commands then print a list, but a list
/// of jobs needs the name of a queue.
int which_queue() {
    throw CLI::ParseError{
        "name a queue, for example 'routemaster jobs list images'; 'routemaster queues' lists the "
        "queues",
        usage_error};
}

// --- Declarations -------------------------------------------------------------------------------

CLI::Option* declare_id(CLI::App& action, JobsSettings& settings) {
    return action.add_option("id", settings.id, "The id of a job")
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{INT64_MAX}))
        ->type_name("ID");
}

void declare_listing(CLI::App& action, JobsSettings& settings) {
    settings.limit = 100;
    action.add_option("--state", settings.state, "Only jobs in this state")
        ->check(CLI::IsMember{job_states});
    action.add_option("--name", settings.name, "Only jobs of this name")
        ->check(check_not_empty)
        ->type_name("NAME");
    action.add_option("--group", settings.group, "Only jobs of this ordering group")
        ->check(check_not_empty)
        ->type_name("NAME");
    action.add_option("--limit", settings.limit, "Jobs to list at most")
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
}

void declare_job(CLI::App& action, JobsSettings& settings) {
    action.add_option("name", settings.name, "The name of the job")->required();
    action.add_option("arguments", settings.arguments, "Its arguments: an array [[]]")
        ->check(check_not_empty)
        ->type_name("JSON");
    action
        .add_option("--priority", settings.priority,
                    "Each level moves the job ahead by one minute of waiting")
        ->check(whole_number(-priority_max, priority_max));
    action
        .add_option("--group", settings.group,
                    "Ordering group of the job: jobs of a group run in order")
        ->check(check_not_empty)
        ->type_name("NAME");
    action
        .add_option("--concurrency", settings.concurrency,
                    "Jobs of the group that may be under way at once")
        ->check(whole_number(std::uint32_t{1}, group_concurrency_max));
    action
        .add_option("--idempotency-key", settings.idempotency_key,
                    "A name of this push, to repeat it safely for 24 hours")
        ->check(check_header_value)
        ->type_name("KEY");
    action
        .add_option("--options", settings.options,
                    "Further fields: {\"delay\":…,\"attempts_max\":…,…}; see docs/http-api.md")
        ->check(check_not_empty)
        ->type_name("JSON");
}

}  // namespace

Run declare_jobs(CLI::App& app) {
    const auto settings = std::make_shared<JobsSettings>();
    const auto run = std::make_shared<Run>(which_queue);
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one job in each line");
    app.require_subcommand(0, 1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*work)(const JobsSettings&)) -> CLI::App& {
        auto* const action = app.add_subcommand(name, summary);
        action->add_option("queue", settings->queue, "The queue")
            ->required()
            ->check(check_queue_name);
        action->callback([settings, run, work] {
            *run = [settings, work] {
                settings->bus.token = require_root_key(settings->root_key);
                return work(*settings);
            };
        });
        return *action;
    };
    declare("count", "Count the jobs of a queue in each state", count);
    declare_listing(declare("list", "List the jobs of a queue", list), *settings);
    declare_id(declare("show", "Show a job, with its last errors", show), *settings)->required();
    declare_id(declare("explain", "Say why a job is not running, or who runs it", explain),
               *settings)
        ->required();
    declare_job(declare("push", "Push a job, and print its id", push), *settings);
    auto& kicking = declare("kick", "Let a job that is buried, or scheduled, run now", kick);
    declare_id(kicking, *settings);
    kicking.add_flag("--all", settings->all, "All buried jobs of the queue");
    declare_id(declare("cancel", "Remove a waiting job, or stop a running job", cancel), *settings)
        ->required();
    declare_id(declare("delete", "Delete a job that no worker has leased", remove), *settings)
        ->required();

    return [run] { return (*run)(); };
}

}  // namespace routemaster::service
