#include <string>
#include <utility>

#include "event_payload.hpp"
#include "handlers.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/codec/msgpack.hpp"
#include "secrets.hpp"

namespace routemaster::api {
namespace {

void append_topic(std::string& json, const Topic& topic, const Caller& caller) {
    json.append(R"({"name":)");
    append_json_text(json, topic.name);
    json.append(R"(,"publisher":)");
    if (!topic.publisher) {
        json.append("null");
    } else {
        const std::string_view token = *topic.publisher;
        append_json_text(json, may_see_all(caller, token) ? token : shown_token(token));
    }
    json.append(R"(,"events":)").append(std::to_string(topic.events)).append("}");
}

/// Whether the topic is another publisher's.
bool is_forbidden(const Outcome& outcome) {
    return !outcome && outcome.error().code() == Errc::forbidden;
}

}  // namespace

void publish_event(Call& call) {
    const auto payload = json_object(call.request().body);
    if (!payload) return call.refuse(payload.error());
    auto event = event_of(call.last_segment(), *payload, call.options());
    if (!event) return call.refuse(event.error());
    const auto now = call.now();
    auto message = encode_message(*event, now);
    PublishEvent step{.topic = std::move(event->topic),
                      .publisher = call.caller().token,
                      .message = std::move(message),
                      .timestamp = event->timestamp.value_or(now),
                      .uid = call.uids().next(),
                      .topics_max = call.options().topics_max};
    call.submit(std::move(step), now, [](Call& published, const Outcome& outcome) {
        if (outcome) return published.answer(200);
        const auto& error = outcome.error();
        if (error.code() == Errc::forbidden) return published.answer_text(403, "topic claimed");
        if (error.code() != Errc::limit_exceeded) return published.refuse(error);
        published.answer_text(403, "too many topics: at most " +
                                       std::to_string(published.options().topics_max) +
                                       " may belong to a client");
    });
}

void list_topics(Call& call) {
    tell_page<ListTopics>(
        call, [](const Topic& topic) -> const std::string& { return topic.name; }, append_topic);
}

void remove_topic(Call& call) {
    RemoveTopic step{.name = call.last_segment(), .publisher = {}};
    if (call.caller().kind == Caller::Kind::client) step.publisher = call.caller().token;
    call.submit(std::move(step), call.now(), [](Call& done, Outcome& outcome) {
        if (is_forbidden(outcome)) {
            return done.answer_text(403, "only the publisher of a topic, or root, may delete it");
        }
        const auto removal = reply_of<RemoveTopic>(outcome);
        if (!removal) return done.refuse(removal.error());
        *removal == Removal::removed ? done.answer(204) : done.answer_text(404, {});
    });
}

}  // namespace routemaster::api
