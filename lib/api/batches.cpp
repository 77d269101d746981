#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job_text.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

bool is_root(const Exchange& exchange) { return exchange.caller().kind == Caller::Kind::root; }

/// Returns the subscriber whose batches are requested. A client requests its own batches with
/// `/v1/subscriber/batches`. Root requests the batches of any subscriber with
/// `/v1/subscribers/:token/batches`.
Subscriber owner_of(const Exchange& exchange) {
    return exchange.bus().subscriber(is_root(exchange) ? std::string{exchange.segment(2)}
                                                       : exchange.caller().token);
}

/// Returns the batch id in the path, or nothing if the segment is not an id. In root's path, the id
/// is one segment further right.
std::optional<Uid> batch_of(const Exchange& exchange) {
    return Uid::parse(exchange.segment(is_root(exchange) ? 4 : 3));
}

void answer_unknown(Exchange& exchange) { exchange.answer_text(404, "batch not found"); }

void append_batch(std::string& json, const QueuedBatch& batch) {
    const auto& status = batch.status;
    json.append(R"({"uid":")").append(status.uid.text());
    json.append(R"(","created_at":)").append(std::to_string(to_milliseconds(status.created_at)));
    json.append(R"(,"attempts":)").append(std::to_string(status.attempts));
    json.append(R"(,"event_count":)").append(std::to_string(status.events));
    json.append(R"(,"current":)").append(status.current ? "true" : "false");
    json.append(R"(,"state":")").append(to_string(batch.delivery));
    json.append(R"(","run_at":)");
    append_time(json, batch.run_at);
    json.append(R"(,"error":)");
    if (batch.error.empty()) {
        json.append("null");
    } else {
        append_json_text(json, batch.error);
    }
    json.push_back('}');
}

/// Responds with an empty list, or with 404 if root requests an unknown subscriber.
void answer_none(Exchange& exchange) {
    if (!is_root(exchange)) return exchange.answer_json(200, "[]");
    owner_of(exchange).status(
        exchange.then([](Exchange& done, const std::optional<SubscriberStatus>& found) {
            found ? done.answer_json(200, "[]") : done.answer_text(404, "subscriber not found");
        }));
}

void answer_action(Exchange& exchange, BatchAction action) {
    switch (action) {
        case BatchAction::done: return exchange.answer(204);
        case BatchAction::unknown: return answer_unknown(exchange);
        case BatchAction::under_way:
            return exchange.answer_text(409, "the batch is being delivered");
    }
}

}  // namespace

void list_batches(Exchange& exchange) {
    const auto page = page_query(exchange.request().query);
    if (!page) return exchange.refuse(page.error());
    std::optional<Uid> after;
    if (!page->after.empty()) {
        after = Uid::parse(page->after);
        if (!after) return exchange.refuse(bad("after", "must be the uid of a queued batch"));
    }
    // Requests one batch more than `limit`, to detect whether there is a next page.
    owner_of(exchange).batches(
        page->limit + 1, after,
        exchange.then(
            [limit = page->limit](Exchange& done, const std::vector<QueuedBatch>& batches) {
                if (batches.empty()) return answer_none(done);
                std::string json;
                auto listed = std::min<std::size_t>(batches.size(), limit);
                for (std::size_t i = 0; i < listed; ++i) {
                    json.push_back(json.empty() ? '[' : ',');
                    append_batch(json, batches[i]);
                    if (json.size() > page_bytes_max) listed = i + 1;
                }
                HttpResponse response{200, std::move(json) + "]", "application/json", {}};
                if (listed < batches.size()) {
                    const std::string last{batches[listed - 1].status.uid.text()};
                    response.headers.emplace_back(
                        "Link", next_link(done.request().path, "after=" + last, limit));
                }
                done.answer_with(std::move(response));
            }));
}

void show_batch(Exchange& exchange) {
    const auto uid = batch_of(exchange);
    if (!uid) return answer_unknown(exchange);
    owner_of(exchange).batch(
        *uid, exchange.then([](Exchange& done, const std::optional<QueuedBatch>& found) {
            if (!found) return answer_unknown(done);
            std::string json;
            append_batch(json, *found);
            done.answer_json(200, std::move(json));
        }));
}

void explain_batch(Exchange& exchange) {
    const auto uid = batch_of(exchange);
    if (!uid) return answer_unknown(exchange);
    owner_of(exchange).explain(
        *uid, exchange.then([](Exchange& done, const std::optional<BatchExplanation>& found) {
            if (!found) return answer_unknown(done);
            std::string json{R"({"text":)"};
            append_json_text(json, to_text(*found));
            json.append(R"(,"before":)");
            if (found->before) {
                append_json_text(json, found->before->text());
            } else {
                json.append("null");
            }
            json.append(R"(,"workers":)");
            append_workers(json, found->workers);
            json.append(R"(,"batch":)");
            append_batch(json, found->batch);
            done.answer_json(200, json + "}");
        }));
}

void deliver_batch(Exchange& exchange) {
    if (exchange.refuse_fields()) return;
    const auto uid = batch_of(exchange);
    if (!uid) return answer_unknown(exchange);
    owner_of(exchange).deliver_now(*uid, exchange.then(answer_action));
}

void drop_batch(Exchange& exchange) {
    const auto uid = batch_of(exchange);
    if (!uid) return answer_unknown(exchange);
    owner_of(exchange).drop(*uid, exchange.then(answer_action));
}

}  // namespace routemaster::api
