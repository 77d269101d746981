#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "components/whole_number.hpp"
#include "name_checks.hpp"
#include "request_body.hpp"
#include "routemaster/codec/json.hpp"
#include "table.hpp"
#include "watch.hpp"

namespace routemaster::service {
namespace {

struct JobBatchesSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    WatchSettings watch{};
    bool json = false;
    std::uint64_t id = 0;
    std::string state;
    std::uint64_t limit = 0;
    std::string name;
    std::string on_success;
    std::string on_end;
};

const std::array<std::string, 2> batch_states{"running", "ended"};

std::string path_of(const JobBatchesSettings& settings) {
    return "/v1/job-batches/" + std::to_string(settings.id);
}

/// Returns the state of a batch: `open`, `closed`, `ended` or `succeeded`.
std::string state_of(const Value& batch) {
    if (!field(batch, "succeeded_at").is_null()) return "succeeded";
    if (!field(batch, "ended_at").is_null()) return "ended";
    return field(batch, "closed_at").is_null() ? "open" : "closed";
}

int list_job_batches(const JobBatchesSettings& settings) {
    BusClient client{settings.bus};
    auto left = settings.limit;
    Rows rows{{"ID", "NAME", "STATE", "TOTAL", "PENDING", "SUCCEEDED", "BURIED", "GONE", "CREATED",
               "ENDED"}};
    for (const auto& state : batch_states) {
        if (!settings.state.empty() && settings.state != state) continue;
        if (left == 0) break;
        for_each_item(client, "/v1/job-batches?state=" + state, [&](const Value& batch) {
            --left;
            if (settings.json) {
                std::cout << printed(batch) << '\n';
                return left > 0;
            }
            const auto gone =
                number(batch, "cancelled") + number(batch, "expired") + number(batch, "forgotten");
            rows.push_back({printed(field(batch, "id")), cell(printed(field(batch, "name"))),
                            state_of(batch), printed(field(batch, "total")),
                            printed(field(batch, "pending")), printed(field(batch, "succeeded")),
                            printed(field(batch, "buried")), std::to_string(gone),
                            printed_time(field(batch, "created_at")),
                            printed_time(field(batch, "ended_at"))});
            return left > 0;
        });
    }
    if (!settings.json) print_table(rows);
    return 0;
}

int show_job_batch(const JobBatchesSettings& settings) {
    const auto body = BusClient{settings.bus}.demand("GET", path_of(settings)).body;
    print_fields(body, settings.json);
    return 0;
}

/// Adds a callback to the body of a request, unless its text is empty.
void add_callback(Value::Map& body, const std::string& field, const std::string& text) {
    if (text.empty()) return;
    body.emplace_back(field == "on-end" ? "on_end" : "on_success", json_of("--" + field, text));
}

int create(const JobBatchesSettings& settings) {
    Value::Map fields;
    if (!settings.name.empty()) fields.emplace_back("name", settings.name);
    add_callback(fields, "on-success", settings.on_success);
    add_callback(fields, "on-end", settings.on_end);
    const auto body = body_of(std::move(fields));
    const auto answer = BusClient{settings.bus}.demand("POST", "/v1/job-batches", body).body;
    if (settings.json) {
        std::cout << answer << '\n';
        return 0;
    }
    const auto created = parse_json(answer).value();
    std::cout << printed(field(created, "id")) << ' ' << printed(field(created, "outcome")) << '\n';
    return 0;
}

int close(const JobBatchesSettings& settings) {
    BusClient{settings.bus}.demand("POST", path_of(settings) + "/close");
    return 0;
}

int remove(const JobBatchesSettings& settings) {
    BusClient{settings.bus}.demand("DELETE", path_of(settings));
    return 0;
}

void declare_list(CLI::App& action, JobBatchesSettings& settings) {
    settings.limit = 100;
    action.add_option("--state", settings.state, "Only batches that are running, or have ended")
        ->check(CLI::IsMember{batch_states});
    action.add_option("--limit", settings.limit, "Batches to list at most")
        ->check(whole_number(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
        ->capture_default_str();
}

void declare_create(CLI::App& action, JobBatchesSettings& settings) {
    action.add_option("name", settings.name, "The name of the batch [a generated one]")
        ->check(check_not_empty);
    action
        .add_option("--on-success", settings.on_success,
                    "Job to push when all jobs have succeeded: {\"queue\":…,\"name\":…,…}")
        ->check(check_not_empty)
        ->type_name("JSON");
    action
        .add_option("--on-end", settings.on_end,
                    "Job to push when no job waits or runs any more: the same fields")
        ->check(check_not_empty)
        ->type_name("JSON");
}

}  // namespace

Run declare_job_batches(CLI::App& app) {
    const auto settings = std::make_shared<JobBatchesSettings>();
    const auto work = std::make_shared<int (*)(const JobBatchesSettings&)>(list_job_batches);
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one batch in each line");
    declare_watch(app, settings->watch);
    app.require_subcommand(0, 1);
    app.fallthrough();
    const auto declare = [&](const char* name, const char* summary,
                             int (*action)(const JobBatchesSettings&)) -> CLI::App& {
        auto* const declared = app.add_subcommand(name, summary);
        declared->callback([work, action] { *work = action; });
        return *declared;
    };
    const auto with_id = [&](CLI::App& action) {
        action.add_option("id", settings->id, "The id of the batch")
            ->required()
            ->check(whole_number(std::uint64_t{1}, std::uint64_t{INT64_MAX}))
            ->type_name("ID");
    };
    declare_list(
        declare("list", "List the batches, those that are running first; without a command as well",
                list_job_batches),
        *settings);
    with_id(declare("show", "Show a batch", show_job_batch));
    declare_create(declare("create", "Create a batch, and print its id", create), *settings);
    with_id(declare("close", "Let a batch end with its last job", close));
    with_id(declare("remove", "Forget a batch; its jobs go on", remove));

    return [settings, work] {
        settings->bus.token = require_root_key(settings->root_key);
        const bool looks = *work == list_job_batches || *work == show_job_batch;
        if (settings->watch.watch && !looks) {
            throw CLI::ValidationError("--watch",
                                       "is only for commands that list, show or explain");
        }
        return show_as(settings->watch, [&] { return (*work)(*settings); });
    };
}

}  // namespace routemaster::service
