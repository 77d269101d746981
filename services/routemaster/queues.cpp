#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "components/whole_number.hpp"
#include "name_checks.hpp"
#include "rate.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "routemaster/rate_limit.hpp"
#include "table.hpp"
#include "watch.hpp"

namespace routemaster::service {
namespace {

struct QueuesSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    WatchSettings watch{};
    bool json = false;
    bool create = false;
    std::string queue;
    std::string rate;
    std::string group_rate;
    std::optional<std::uint32_t> burst;
    std::optional<std::uint32_t> group_burst;
};

std::string path_of(const QueuesSettings& settings) { return "/v1/queues/" + settings.queue; }

/// Returns the header of the table whose rows `row_of_queue` creates.
Rows queue_rows() {
    return {{"QUEUE", "SCHEDULED", "READY", "PENDING", "BURIED", "OLDEST", "WORKERS", "PAUSED",
             "RATE", "GROUPS"}};
}

/// Formats how many workers serve a queue. For 0, formats the time since the last heartbeat of a
/// worker, or `?` if a worker has not reported its queues.
std::string workers(const Value& queue) {
    const auto count = number(queue, "workers");
    if (count > 0) return std::to_string(count);
    if (number(queue, "unprofiled") > 0) return "?";
    const auto& last = field(queue, "worker_at");
    return last.is_null() ? "none" : "none for " + printed_age(last);
}

std::vector<std::string> row_of_queue(const Value& queue) {
    std::vector<std::string> row{printed(field(queue, "queue"))};
    for (const char* state : {"scheduled", "ready", "pending", "buried"}) {
        row.push_back(printed(field(queue, state)));
    }
    row.push_back(printed_age(field(queue, "due_since")));
    row.push_back(workers(queue));
    row.push_back(field(queue, "paused") == Value{true} ? "yes" : "no");
    const auto& limits = field(queue, "rate_limits");
    for (const char* whose : {"queue", "each_group"})
        row.push_back(printed_rate(field(limits, whose)));
    return row;
}

int list_queues(const QueuesSettings& settings) {
    BusClient client{settings.bus};
    auto rows = queue_rows();
    for_each_item(client, "/v1/queues", [&](const Value& queue) {
        if (settings.json) {
            std::cout << printed(queue) << '\n';
        } else {
            rows.push_back(row_of_queue(queue));
        }
        return true;
    });
    if (!settings.json) print_table(rows);
    return 0;
}

int show_queue(const QueuesSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of(settings)).body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    auto rows = queue_rows();
    rows.push_back(row_of_queue(parse_json(body).value()));
    print_table(rows);
    return 0;
}

int throughput(const QueuesSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of(settings) + "/throughput").body;
    if (settings.json) {
        std::cout << body << '\n';
        return 0;
    }
    const auto all = parse_json(body).value();
    Rows rows{{"SPAN", "FROM", "DONE", "FAILED", "BURIED", "EXPIRED"}};
    for (const auto& [span, key] : {std::pair{"hour", "hours"}, std::pair{"minute", "minutes"}}) {
        for (const auto& one : elements(field(all, key))) {
            rows.push_back({span, printed_time(field(one, "from")), printed(field(one, "done")),
                            printed(field(one, "failed")), printed(field(one, "buried")),
                            printed(field(one, "expired"))});
        }
    }
    print_table(rows);
    return 0;
}

bool has_limits(const Value& queue) {
    const auto& limits = field(queue, "rate_limits");
    return field(limits, "queue") != Value{} || field(limits, "each_group") != Value{};
}

/// Whether the queue has jobs, settings or workers, or has ended any jobs in the last hours.
bool is_known(BusClient& client, const QueuesSettings& settings) {
    const auto queue = parse_json(client.demand("GET", path_of(settings)).body).value();
    for (const char* state : {"scheduled", "ready", "pending", "buried"}) {
        if (number(queue, state) > 0) return true;
    }
    if (field(queue, "paused") == Value{true} || has_limits(queue)) return true;
    if (number(queue, "workers") > 0 || !field(queue, "worker_at").is_null()) return true;
    const auto ended = client.demand("GET", path_of(settings) + "/throughput").body;
    return !elements(field(parse_json(ended).value(), "hours")).empty();
}

/// Throws if the store has no data about a queue, because its name is then probably misspelt.
void require_known(BusClient& client, const QueuesSettings& settings) {
    if (settings.create || is_known(client, settings)) return;
    throw std::runtime_error{"queue '" + settings.queue +
                             "' has no jobs, settings or workers, and had no job in the last 24 "
                             "hours; see `routemaster queues`, or add --create to set a new queue"};
}

int pause(const QueuesSettings& settings) {
    BusClient client{settings.bus};
    require_known(client, settings);
    client.demand("POST", path_of(settings) + "/pause");
    return 0;
}

int resume(const QueuesSettings& settings) {
    BusClient client{settings.bus};
    require_known(client, settings);
    client.demand("POST", path_of(settings) + "/resume");
    return 0;
}

int limit(const QueuesSettings& settings) {
    BusClient client{settings.bus};
    require_known(client, settings);
    Value::Map limits;
    if (!settings.rate.empty()) {
        limits.emplace_back("queue", limit_of(settings.rate, settings.burst));
    }
    if (!settings.group_rate.empty()) {
        limits.emplace_back("each_group", limit_of(settings.group_rate, settings.group_burst));
    }
    const auto body = body_of(std::move(limits));
    client.demand("PUT", path_of(settings) + "/rate_limits", body);
    return 0;
}

/// Declares the options of a rate limit.
void declare_limit(CLI::App& action, QueuesSettings& settings) {
    const CLI::Validator is_rate{
        [](const std::string& text) {
            return parse_rate(text) ? "" : "must have the form 10/s or 100/5min";
        },
        "JOBS/TIME"};
    auto* const rates = action.add_option_group("rates");
    auto* const rate = rates->add_option(
        "--rate", settings.rate, "Limit for all jobs of the queue, such as 10/s, 100/min, 5/250ms");
    rate->check(is_rate);
    auto* const of_groups = rates->add_option("--group-rate", settings.group_rate,
                                              "Limit for each ordering group of the queue");
    of_groups->check(is_rate);
    rates->require_option(1, 2);
    const auto is_burst = whole_number(std::uint32_t{1}, rate_limit_jobs_max);
    action
        .add_option("--burst", settings.burst, "Jobs that may begin at once [the number in --rate]")
        ->check(is_burst)
        ->needs(rate);
    action
        .add_option("--group-burst", settings.group_burst,
                    "Jobs of a group that may begin at once [the number in --group-rate]")
        ->check(is_burst)
        ->needs(of_groups);
}

void declare_queue(CLI::App& action, QueuesSettings& settings) {
    action.add_option("queue", settings.queue, "The queue")->required()->check(check_queue_name);
}

/// Declares the queue argument of a command that changes settings.
void declare_setting(CLI::App& action, QueuesSettings& settings) {
    declare_queue(action, settings);
    action.add_flag("--create", settings.create,
                    "Also set up a queue without jobs, settings and workers");
}

}  // namespace

Run declare_queues(CLI::App& app) {
    const auto settings = std::make_shared<QueuesSettings>();
    const auto work = std::make_shared<int (*)(const QueuesSettings&)>(list_queues);
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one queue in each line");
    declare_watch(app, settings->watch);
    app.require_subcommand(0, 1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*action)(const QueuesSettings&)) -> CLI::App& {
        auto* const declared = app.add_subcommand(name, summary);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    declare("list", "List the queues that have jobs or settings; without a command as well",
            list_queues);
    declare_queue(declare("show", "Show a queue", show_queue), *settings);
    declare_queue(
        declare("throughput", "Count how jobs of a queue ended in the last 24 hours and 60 minutes",
                throughput),
        *settings);
    declare_setting(declare("pause", "Stop workers from acquiring jobs of a queue", pause),
                    *settings);
    declare_setting(declare("resume", "Let workers acquire jobs of a queue again", resume),
                    *settings);
    auto& limiting = declare("limit", "Limit the rate at which jobs of a queue begin", limit);
    declare_setting(limiting, *settings);
    declare_limit(limiting, *settings);
    declare_setting(declare("unlimit", "Remove the rate limits of a queue", limit), *settings);

    return [settings, work] {
        settings->bus.token = require_root_key(settings->root_key);
        const bool looks = *work == list_queues || *work == show_queue || *work == throughput;
        if (settings->watch.watch && !looks) {
            throw CLI::ValidationError("--watch",
                                       "is only for commands that list, show or explain");
        }
        return show_as(settings->watch, [&] { return (*work)(*settings); });
    };
}

}  // namespace routemaster::service
