#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/job_push.hpp"
#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "routemaster/job_batches.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

constexpr std::array<std::string_view, 3> create_fields{"name", "on_success", "on_end"};

std::optional<JobBatchId> batch_of(const Exchange& exchange) {
    return number_of(exchange.segment(2));
}

void answer_unknown(Exchange& exchange) { exchange.answer_text(404, "batch not found"); }

void answer_whether(Exchange& exchange, bool found) {
    found ? exchange.answer(204) : answer_unknown(exchange);
}

// --- Creating -----------------------------------------------------------------------------------

/// Parses a callback. Rejects the options that are not supported for callbacks.
Result<JobBatchCallback> callback_of(const Value& payload) {
    for (const std::string_view field :
         {"delay", "run_at", "expires", "unique", "after", "group", "concurrency", "batch"}) {
        if (given(payload, field) != nullptr)
            return bad(field, "is not allowed in a callback of a batch");
    }
    auto pushed = detail::queued_push(payload);
    if (!pushed) return pushed.error();
    auto& options = pushed->push.options;
    return JobBatchCallback{.queue = std::move(pushed->queue),
                            .job = encode_job(pushed->push.job),
                            .attempts_max = options.attempts_max,
                            .priority = options.priority,
                            .timeout = options.timeout,
                            .metadata = std::move(options.metadata)};
}

Result<void> read_callback(const Value& payload, std::string_view field,
                           std::optional<JobBatchCallback>& into) {
    const auto* wanted = given(payload, field);
    if (wanted == nullptr) return {};
    auto callback = callback_of(*wanted);
    if (!callback) return headed(field, callback.error());
    into = *std::move(callback);
    return {};
}

Result<JobBatchSettings> settings_of(std::string_view body) {
    const auto payload = json_object(body);
    if (!payload) return payload.error();
    if (auto known = check_fields(*payload, create_fields); !known) return known.error();
    JobBatchSettings settings;
    if (const auto* name = given(*payload, "name")) {
        const auto* text = name->get_if<std::string>();
        if (text == nullptr) return bad("name", "requires a string");
        if (text->empty())
            return bad("name", "must not be empty; omit the field to get a generated name");
        settings.name = *text;
    }
    if (auto read = read_callback(*payload, "on_success", settings.on_success); !read) {
        return read.error();
    }
    if (auto read = read_callback(*payload, "on_end", settings.on_end); !read) return read.error();
    return settings;
}

// --- Listing ------------------------------------------------------------------------------------

void append_number(std::string& json, std::string_view name, std::uint64_t number) {
    json.append(",\"").append(name).append("\":").append(std::to_string(number));
}

void append_instant(std::string& json, std::string_view name, std::optional<TimePoint> at) {
    json.append(",\"").append(name).append("\":");
    append_time(json, at);
}

void append_callback(std::string& json, std::string_view name,
                     const std::optional<JobBatchCallback>& callback, JobId job) {
    json.append(",\"").append(name).append("\":");
    if (!callback) {
        json.append("null");
        return;
    }
    json.append(R"({"queue":)");
    append_json_text(json, callback->queue);
    json.push_back(',');
    auto decoded = decode_job(callback->job);
    append_job(json, decoded ? std::optional{*std::move(decoded)} : std::nullopt);
    append_number(json, "attempts_max", callback->attempts_max);
    json.append(R"(,"priority":)").append(std::to_string(callback->priority));
    json.append(R"(,"timeout":)").append(std::to_string(callback->timeout.count()));
    json.append(R"(,"metadata":)");
    append_metadata(json, callback->metadata);
    json.append(R"(,"id":)").append(job == 0 ? "null" : std::to_string(job)).append("}");
}

void append_batch(std::string& json, const JobBatch& batch) {
    const auto& progress = batch.progress;
    json.append(R"({"id":)").append(std::to_string(batch.id));
    json.append(R"(,"name":)");
    append_json_text(json, batch.settings.name);
    append_number(json, "total", progress.total);
    append_number(json, "pending", progress.pending());
    append_number(json, "succeeded", progress.succeeded);
    append_number(json, "buried", progress.buried);
    append_number(json, "cancelled", progress.cancelled);
    append_number(json, "expired", progress.expired);
    append_number(json, "forgotten", progress.forgotten);
    append_instant(json, "created_at", batch.created_at);
    append_instant(json, "closed_at", batch.closed_at);
    append_instant(json, "ended_at", batch.ended_at);
    append_instant(json, "succeeded_at", batch.succeeded_at);
    append_callback(json, "on_success", batch.settings.on_success, batch.success_job);
    append_callback(json, "on_end", batch.settings.on_end, batch.end_job);
    json.push_back('}');
}

struct BatchQuery {
    bool ended = false;
    JobBatchId after = 0;
    std::uint32_t limit = job_batches_listed_max;

    [[nodiscard]] std::string from(JobBatchId next) const {
        return std::string{"state="} + (ended ? "ended" : "running") +
               "&after=" + std::to_string(next);
    }
};

Result<BatchQuery> batch_query(std::string_view query) {
    const auto page = page_query(query);
    if (!page) return page.error();
    const auto word = query_parameter(query, "state");
    if (!word) return word.error();
    const auto state = word->value_or("running");
    if (state != "running" && state != "ended") return bad("state", "must be running or ended");
    const auto after = page->after.empty() ? std::optional<JobBatchId>{0} : number_of(page->after);
    if (!after) return bad("after", "must be the id of a batch");
    return BatchQuery{state == "ended", *after, std::min(page->limit, job_batches_listed_max)};
}

void answer_page(Exchange& exchange, const BatchQuery& query, const JobBatchPage& page) {
    std::string json{"["};
    auto next = page.next;
    for (const auto& batch : page.batches) {
        if (json.size() > 1) json.push_back(',');
        append_batch(json, batch);
        if (json.size() <= page_bytes_max || &batch == &page.batches.back()) continue;
        next = batch.id;
        break;
    }
    HttpResponse response{200, std::move(json) + "]", "application/json", {}};
    if (next != 0) {
        response.headers.emplace_back(
            "Link", next_link(exchange.request().path, query.from(next), query.limit));
    }
    exchange.answer_with(std::move(response));
}

}  // namespace

void create_job_batch(Exchange& exchange) {
    auto settings = settings_of(exchange.request().body);
    if (!settings) return exchange.refuse(settings.error());
    exchange.job_batches().create(
        *std::move(settings), exchange.then([](Exchange& done, const JobBatchCreated& reply) {
            done.answer_json(200, R"({"id":)" + std::to_string(reply.id) + R"(,"outcome":")" +
                                      (reply.created ? "created" : "exists") + R"("})");
        }));
}

void list_job_batches(Exchange& exchange) {
    const auto query = batch_query(exchange.request().query);
    if (!query) return exchange.refuse(query.error());
    exchange.job_batches().list(
        query->ended, query->after, query->limit,
        exchange.then([query = *query](Exchange& done, const JobBatchPage& page) {
            answer_page(done, query, page);
        }));
}

void show_job_batch(Exchange& exchange) {
    const auto id = batch_of(exchange);
    if (!id) return answer_unknown(exchange);
    exchange.job_batches().find(
        *id, exchange.then([](Exchange& done, const std::optional<JobBatch>& found) {
            if (!found) return answer_unknown(done);
            std::string json;
            append_batch(json, *found);
            done.answer_json(200, std::move(json));
        }));
}

void close_job_batch(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    const auto id = batch_of(exchange);
    if (!id) return answer_unknown(exchange);
    exchange.job_batches().close(*id, exchange.then(answer_whether));
}

void remove_job_batch(Exchange& exchange) {
    const auto id = batch_of(exchange);
    if (!id) return answer_unknown(exchange);
    exchange.job_batches().remove(*id, exchange.then([](Exchange& done, Removal what) {
        answer_whether(done, what == Removal::removed);
    }));
}

}  // namespace routemaster::api
