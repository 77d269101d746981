#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job_text.hpp"
#include "listing.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_workers.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

/// A worker with the text of its id, by which the list is sorted.
struct NamedWorker {
    std::string id;
    ListedWorker worker;
};

void append_leased(std::string& json, const LeasedByWorker& leased) {
    const auto job = decode_job(leased.job);
    json.append(R"({"queue":)");
    append_json_text(json, leased.queue);
    json.append(R"(,"id":)").append(leased.id == 0 ? "null" : std::to_string(leased.id));
    json.append(R"(,"name":)");
    if (job) {
        append_json_text(json, job->name);
    } else {
        json.append("null");
    }
    json.append(R"(,"attempt":)").append(std::to_string(leased.attempt));
    json.append(R"(,"since":)");
    append_time(json, leased.since);
    json.append(R"(,"cancelled":)").append(leased.cancelled ? "true}" : "false}");
}

void append_names(std::string& json, const std::vector<std::string>& names) {
    json.push_back('[');
    for (const auto& name : names) {
        if (json.back() != '[') json.push_back(',');
        append_json_text(json, name);
    }
    json.push_back(']');
}

void append_profile(std::string& json, const ListedWorker& worker) {
    constexpr std::array<std::string_view, 3> others{"refused", "handled", "unknown"};
    if (!worker.profile) {
        json.append("null");
        return;
    }
    const auto& profile = *worker.profile;
    json.append(R"({"name":)");
    append_json_text(json, profile.name);
    json.append(R"(,"host":)");
    append_json_text(json, profile.host);
    json.append(R"(,"process":)").append(std::to_string(profile.process));
    json.append(R"(,"since":)");
    append_time(json, profile.since);
    json.append(R"(,"queues":)");
    append_names(json, profile.queues);
    json.append(R"(,"handlers":)");
    append_names(json, profile.handlers);
    json.append(R"(,"handlers_total":)").append(std::to_string(profile.handlers_total));
    json.append(R"(,"others":")").append(others.at(static_cast<std::size_t>(profile.others)));
    json.append(R"(","capacity":)").append(std::to_string(profile.capacity));
    json.append(R"(,"busy":)").append(std::to_string(worker.busy)).append("}");
}

void append_worker(std::string& json, const NamedWorker& named, const Caller&) {
    json.append(R"({"worker":)");
    append_json_text(json, named.id);
    json.append(R"(,"seen_at":)");
    append_time(json, named.worker.seen);
    json.append(R"(,"profile":)");
    append_profile(json, named.worker);
    json.append(R"(,"leased":)").append(std::to_string(named.worker.leased));
    json.append(R"(,"jobs":[)");
    for (const auto& job : named.worker.jobs) {
        if (json.back() != '[') json.push_back(',');
        append_leased(json, job);
    }
    json.append("]}");
}

void ask_for_workers(Exchange& asking, Page page,
                     std::function<void(Result<std::vector<NamedWorker>>)> done) {
    asking.workers().list(std::move(page),
                          [done = std::move(done)](Result<std::vector<ListedWorker>> found) {
                              if (!found) return done(found.error());
                              std::vector<NamedWorker> named;
                              for (auto& worker : *found) {
                                  std::string id{worker.id.text()};
                                  named.push_back({std::move(id), std::move(worker)});
                              }
                              done(std::move(named));
                          });
}

}  // namespace

void list_workers(Exchange& exchange) {
    list_page<NamedWorker>(
        exchange, Keys::open, ask_for_workers,
        [](const NamedWorker& named) -> const std::string& { return named.id; }, append_worker);
}

}  // namespace routemaster::api
