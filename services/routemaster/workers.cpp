#include <cstddef>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "answers.hpp"
#include "bus_client.hpp"
#include "command.hpp"
#include "components/root_key.hpp"
#include "table.hpp"
#include "watch.hpp"

namespace routemaster::service {
namespace {

struct WorkersSettings {
    BusSettings bus{};
    RootKeySettings root_key{};
    WatchSettings watch{};
    bool json = false;
};

/// Formats the queues of a worker; `?` if the worker has not reported them.
std::string serves(const Value& profile) {
    if (profile.is_null()) return "?";
    std::string all;
    for (const auto& queue : elements(field(profile, "queues"))) {
        const bool schedules = queue == Value{":recurring"};
        all += (all.empty() ? "" : ",") + (schedules ? "(recurring jobs)" : printed(queue));
    }
    return all.empty() ? "-" : cell(all);
}

/// Formats the first few names of jobs that a worker can run: "crop,resize and 7 more".
std::string handlers(const Value& profile) {
    constexpr std::size_t shown_max = 3;
    if (profile.is_null()) return "?";
    const auto& others = field(profile, "others");
    const auto total = static_cast<std::size_t>(number(profile, "handlers_total"));
    std::string all;
    std::size_t shown = 0;
    for (const auto& name : elements(field(profile, "handlers"))) {
        if (shown == shown_max) break;
        all += (shown++ == 0 ? "" : ",") + printed(name);
    }
    if (total > shown) {
        all += (all.empty() ? "" : " and ") + std::to_string(total - shown) + " more";
    }
    if (others == Value{"handled"}) all += all.empty() ? "any" : " and any other";
    if (others == Value{"unknown"}) all += all.empty() ? "?" : " and ?";
    return all.empty() ? "-" : cell(all);
}

/// Formats the number of running jobs, and the maximum: "3/8".
std::string busy(const Value& profile) {
    if (profile.is_null()) return "-";
    const auto capacity = number(profile, "capacity");
    const auto taken = std::to_string(number(profile, "busy"));
    return capacity == 0 ? taken : taken + "/" + std::to_string(capacity);
}

/// Adds a row for each job of the worker, and at least one row. Only the first row contains the
/// data of the worker.
void add_rows(Rows& rows, const Value& worker) {
    const auto& profile = field(worker, "profile");
    std::vector<std::string> who{printed(field(worker, "worker")),
                                 profile.is_null() ? "-" : cell(printed(field(profile, "name"))),
                                 serves(profile),
                                 handlers(profile),
                                 busy(profile),
                                 printed_age(field(worker, "seen_at")),
                                 printed(field(worker, "leased"))};
    const auto& jobs = elements(field(worker, "jobs"));
    if (jobs.empty()) who.insert(who.end(), {"-", "-", "-", "-", "-"});
    if (jobs.empty()) rows.push_back(who);
    for (const auto& job : jobs) {
        auto row = who;
        for (const char* key : {"queue", "id"}) row.push_back(printed(field(job, key)));
        row.push_back(printed_age(field(job, "since")));
        row.push_back(printed(field(job, "attempt")));
        const bool cancelled = field(job, "cancelled") == Value{true};
        row.push_back(cell(printed(field(job, "name"))) + (cancelled ? " (cancelled)" : ""));
        rows.push_back(std::move(row));
        who.assign(who.size(), "");
    }
}

int list(const WorkersSettings& settings) {
    BusClient client{settings.bus};
    Rows rows{{"WORKER", "NAME", "SERVES", "HANDLERS", "BUSY", "SEEN", "JOBS", "QUEUE", "ID",
               "SINCE", "ATTEMPT", "NAME"}};
    for_each_item(client, "/v1/workers", [&](const Value& worker) {
        if (settings.json) {
            std::cout << printed(worker) << '\n';
        } else {
            add_rows(rows, worker);
        }
        return true;
    });
    if (!settings.json) print_table(rows);
    return 0;
}

}  // namespace

Run declare_workers(CLI::App& app) {
    const auto settings = std::make_shared<WorkersSettings>();
    declare_bus(app, settings->bus);
    declare_root_key(app, settings->root_key);
    app.add_flag("--json", settings->json, "Print JSON, one worker in each line");
    declare_watch(app, settings->watch);
    return [settings] {
        settings->bus.token = require_root_key(settings->root_key);
        return show_as(settings->watch, [&] { return list(*settings); });
    };
}

}  // namespace routemaster::service
