#include <functional>
#include <string>
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

/// A worker, and the text of its id, by which the list is ordered.
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

void append_worker(std::string& json, const NamedWorker& named, const Caller&) {
    json.append(R"({"worker":)");
    append_json_text(json, named.id);
    json.append(R"(,"seen_at":)");
    append_time(json, named.worker.seen);
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
