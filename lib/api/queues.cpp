#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/job_queues.hpp"
#include "routemaster/rate_limit.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::array<std::string_view, 2> limits_fields{"queue", "each_group"};
constexpr std::array<std::string_view, 3> limit_fields{"jobs", "per", "burst"};

Result<void> read_limit(const Value& payload, std::string_view field,
                        std::optional<RateLimit>& limit) {
    const auto* wanted = given(payload, field);
    if (wanted == nullptr) return {};
    if (wanted->get_if<Value::Map>() == nullptr) return bad(field, "must be an object with jobs");
    if (auto known = check_fields(*wanted, limit_fields); !known) {
        return headed(field, known.error());
    }
    const auto read = [&](std::string_view part, std::int64_t least, std::int64_t most) {
        return integer_of(*wanted, part, least, most);
    };
    const auto jobs = read("jobs", 1, rate_limit_jobs_max);
    if (!jobs) return headed(field, jobs.error());
    if (!*jobs) return bad(field, "jobs: is missing");
    const auto per = read("per", 1, rate_limit_per_max.count());
    if (!per) return headed(field, per.error());
    const auto burst = read("burst", 1, rate_limit_jobs_max);
    if (!burst) return headed(field, burst.error());
    limit = RateLimit{.jobs = static_cast<std::uint32_t>(**jobs)};
    if (*per) limit->per = Duration{**per};
    limit->burst = static_cast<std::uint32_t>(burst->value_or(0));
    return {};
}

Result<RateLimits> rate_limits_in(std::string_view body) {
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    if (auto known = check_fields(*payload, limits_fields); !known) return known.error();
    RateLimits limits;
    if (auto read = read_limit(*payload, "queue", limits.queue); !read) return read.error();
    if (auto read = read_limit(*payload, "each_group", limits.each_group); !read) {
        return read.error();
    }
    return limits;
}

void append_limit(std::string& json, const std::optional<RateLimit>& limit) {
    if (!limit) return static_cast<void>(json.append("null"));
    json.append(R"({"jobs":)").append(std::to_string(limit->jobs));
    json.append(R"(,"per":)").append(std::to_string(limit->per.count()));
    json.append(R"(,"burst":)").append(std::to_string(limit->tokens_max())).append("}");
}

void append_queue(std::string& json, const ListedQueue& queue) {
    const auto& status = queue.status;
    json.append(R"({"queue":)");
    append_json_text(json, queue.name);
    json.append(R"(,"scheduled":)").append(std::to_string(status.scheduled));
    json.append(R"(,"ready":)").append(std::to_string(status.ready));
    json.append(R"(,"pending":)").append(std::to_string(status.pending));
    json.append(R"(,"buried":)").append(std::to_string(status.buried));
    json.append(R"(,"paused":)").append(status.paused ? "true" : "false");
    json.append(R"(,"due_since":)");
    append_time(json, queue.due_since);
    json.append(R"(,"workers":)").append(std::to_string(queue.workers));
    json.append(R"(,"unprofiled":)").append(std::to_string(queue.unprofiled));
    json.append(R"(,"worker_at":)");
    append_time(json, queue.worker_at);
    json.append(R"(,"rate_limits":{"queue":)");
    append_limit(json, queue.limits.queue);
    json.append(R"(,"each_group":)");
    append_limit(json, queue.limits.each_group);
    json.append("}}");
}

}  // namespace

void list_queues(Exchange& exchange) {
    list_page<ListedQueue>(
        exchange, Keys::open,
        [](Exchange& asking, Page page, auto done) {
            asking.queues().list(std::move(page), std::move(done));
        },
        [](const ListedQueue& queue) -> const std::string& { return queue.name; },
        [](std::string& json, const ListedQueue& queue, const Caller&) {
            append_queue(json, queue);
        });
}

void show_queue(Exchange& exchange) {
    exchange.queues().find(std::string{exchange.segment(2)},
                           exchange.then([](Exchange& done, const ListedQueue& queue) {
                               std::string json;
                               append_queue(json, queue);
                               done.answer_json(200, std::move(json));
                           }));
}

void pause_queue(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    exchange.queue().pause(exchange.then([](Exchange& done) { done.answer(204); }));
}

void resume_queue(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    exchange.queue().resume(exchange.then([](Exchange& done) { done.answer(204); }));
}

void limit_queue(Exchange& exchange) {
    const auto limits = rate_limits_in(exchange.request().body);
    if (!limits) return exchange.refuse(limits.error());
    exchange.queue().limit_rate(*limits, exchange.then([](Exchange& done) { done.answer(204); }));
}

}  // namespace routemaster::api
