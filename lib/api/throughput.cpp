#include <string>
#include <string_view>
#include <vector>

#include "routemaster/job_queues.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

void append_counts(std::string& json, std::string_view name,
                   const std::vector<QueueCountsAt>& all) {
    json.append("\"").append(name).append("\":[");
    for (const auto& [from, counts] : all) {
        if (json.back() != '[') json.push_back(',');
        json.append(R"({"from":)").append(std::to_string(to_milliseconds(from)));
        json.append(R"(,"done":)").append(std::to_string(counts.done));
        json.append(R"(,"failed":)").append(std::to_string(counts.failed));
        json.append(R"(,"buried":)").append(std::to_string(counts.buried));
        json.append(R"(,"expired":)").append(std::to_string(counts.expired)).append("}");
    }
    json.push_back(']');
}

}  // namespace

void show_throughput(Exchange& exchange) {
    exchange.queues().throughput(
        std::string{exchange.segment(2)},
        exchange.then([](Exchange& done, const QueueThroughput& throughput) {
            std::string json{"{"};
            append_counts(json, "minutes", throughput.minutes);
            json.push_back(',');
            append_counts(json, "hours", throughput.hours);
            json.push_back('}');
            done.answer_json(200, std::move(json));
        }));
}

}  // namespace routemaster::api
