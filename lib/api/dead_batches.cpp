#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/delivery_body_parts.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/time.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

/// Returns the subscriber whose batches are requested. A client requests its own batches with
/// `/subscriber/dead`. Root requests the batches of any subscriber with `/subscribers/:token/dead`.
Subscriber owner_of_dead(const Exchange& exchange) {
    const bool root = exchange.caller().kind == Caller::Kind::root;
    return exchange.bus().subscriber(root ? std::string{exchange.segment(1)}
                                          : exchange.caller().token);
}

/// Returns the batch id in the path, or nothing if the segment is not an id. In root's path, the id
/// is one segment further right.
std::optional<Uid> dead_batch_of(const Exchange& exchange) {
    return Uid::parse(exchange.segment(exchange.caller().kind == Caller::Kind::root ? 3 : 2));
}

void answer_unknown_dead(Exchange& exchange) { exchange.answer_text(404, "dead batch not found"); }

/// Responds with `json`, which describes an empty list, or with 404 if root requests an unknown
/// subscriber.
void answer_none_dead(Exchange& exchange, std::string json) {
    if (exchange.caller().kind != Caller::Kind::root) {
        return exchange.answer_json(200, std::move(json));
    }
    owner_of_dead(exchange).status(exchange.then(
        [json = std::move(json)](Exchange& done, const std::optional<SubscriberStatus>& found) {
            found ? done.answer_json(200, json) : done.answer_text(404, "subscriber not found");
        }));
}

/// Appends `batch` as an object without its closing brace.
void append_status(std::string& json, const DeadBatchStatus& batch) {
    json.append(R"({"uid":")").append(batch.uid.text());
    json.append(R"(","created_at":)").append(std::to_string(to_milliseconds(batch.created_at)));
    json.append(R"(,"died_at":)").append(std::to_string(to_milliseconds(batch.died_at)));
    json.append(R"(,"attempts":)").append(std::to_string(batch.attempts));
    json.append(R"(,"event_count":)").append(std::to_string(batch.events));
    json.append(R"(,"error":)");
    append_json_text(json, batch.error);
}

/// Completes the object `json` by its events and `undecodable`, and responds with the object. If
/// there are many events, they are encoded in chunks, as the client reads.
void answer_events(Exchange& exchange, std::string json, MessageList messages) {
    constexpr std::size_t at_once_max = 4'096;
    constexpr std::size_t part_size = 65'536;
    const auto bytes = messages.bytes();
    const auto events = std::make_shared<detail::DeliveryBodyParts>(std::move(messages));
    const auto append = [events](std::string& part) {
        if (events->append(part, part_size)) return true;
        part.append(R"(,"undecodable":)").append(std::to_string(events->undecodable())).append("}");
        return false;
    };
    HttpResponse response{200, std::move(json), "application/json", {}};
    if (bytes <= at_once_max) {
        append(response.body);
    } else {
        response.rest = append;
        response.rest_bytes = bytes + part_size;
    }
    exchange.answer_with(std::move(response));
}

}  // namespace

void list_dead(Exchange& exchange) {
    const auto page = page_query(exchange.request().query);
    if (!page) return exchange.refuse(page.error());
    std::optional<Uid> after;
    if (!page->after.empty()) {
        after = Uid::parse(page->after);
        if (!after) return exchange.refuse(bad("after", "must be the uid of a DEAD batch"));
    }
    // Requests one batch more than `limit`, to detect whether there is a next page.
    owner_of_dead(exchange).dead_batches(
        page->limit + 1, after,
        exchange.then(
            [limit = page->limit](Exchange& done, const std::vector<DeadBatchStatus>& batches) {
                if (batches.empty()) return answer_none_dead(done, "[]");
                std::string json;
                auto listed = std::min<std::size_t>(batches.size(), limit);
                for (std::size_t i = 0; i < listed; ++i) {
                    json.push_back(json.empty() ? '[' : ',');
                    append_status(json, batches[i]);
                    json.push_back('}');
                    if (json.size() > page_bytes_max) listed = i + 1;
                }
                HttpResponse response{200, std::move(json) + "]", "application/json", {}};
                if (listed < batches.size()) {
                    response.headers.emplace_back(
                        "Link",
                        next_link(done.request().path,
                                  "after=" + std::string{batches[listed - 1].uid.text()}, limit));
                }
                done.answer_with(std::move(response));
            }));
}

void show_dead(Exchange& exchange) {
    const auto uid = dead_batch_of(exchange);
    if (!uid) return answer_unknown_dead(exchange);
    owner_of_dead(exchange).dead_messages(
        *uid, exchange.then([](Exchange& done, std::optional<DeadMessages> found) {
            if (!found) return answer_unknown_dead(done);
            std::string json;
            append_status(json, found->status);
            json.append(R"(,"events":)");
            answer_events(done, std::move(json), std::move(found->messages));
        }));
}

void redeliver_dead(Exchange& exchange) {
    const auto uid = dead_batch_of(exchange);
    if (!uid) return answer_unknown_dead(exchange);
    owner_of_dead(exchange).redeliver(*uid, exchange.then([](Exchange& done, Count count) {
        count.value == 0 ? answer_unknown_dead(done) : done.answer(204);
    }));
}

void redeliver_all_dead(Exchange& exchange) {
    owner_of_dead(exchange).redeliver_all(exchange.then([](Exchange& done, Count count) {
        auto json = R"({"batches":)" + std::to_string(count.value) + "}";
        count.value == 0 ? answer_none_dead(done, std::move(json))
                         : done.answer_json(200, std::move(json));
    }));
}

void drop_dead(Exchange& exchange) {
    const auto uid = dead_batch_of(exchange);
    if (!uid) return answer_unknown_dead(exchange);
    owner_of_dead(exchange).drop_dead(*uid, exchange.then([](Exchange& done, Dropped dropped) {
        dropped.batches == 0 ? answer_unknown_dead(done) : done.answer(204);
    }));
}

void drop_all_dead(Exchange& exchange) {
    owner_of_dead(exchange).drop_all_dead(exchange.then([](Exchange& done, Dropped dropped) {
        auto json = R"({"batches":)" + std::to_string(dropped.batches) + R"(,"events":)" +
                    std::to_string(dropped.events) + "}";
        dropped.batches == 0 ? answer_none_dead(done, std::move(json))
                             : done.answer_json(200, std::move(json));
    }));
}

}  // namespace routemaster::api
