#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "job_text.hpp"
#include "listing.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/job_queues.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

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
    json.push_back('}');
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

}  // namespace routemaster::api
