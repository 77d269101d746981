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

}  // namespace

void publish_event(Call& call) {
    const auto payload = json_object(call.request().body);
    if (!payload) return call.refuse(payload.error());
    auto event = event_of(call.last_segment(), *payload, call.options().event_data_max);
    if (!event) return call.refuse(event.error());
    const auto now = call.now();
    auto message = encode_message(*event, now);
    PublishEvent step{.topic = std::move(event->topic),
                      .publisher = call.caller().token,
                      .message = std::move(message),
                      .timestamp = event->timestamp.value_or(now),
                      .uid = call.uids().next()};
    call.perform(std::move(step), now, [](Call& published, PublishOutcome outcome) {
        outcome == PublishOutcome::forbidden ? published.answer_text(403, "topic claimed")
                                             : published.answer(200);
    });
}

void list_topics(Call& call) {
    tell_all<ListTopics>(
        call, [](const Topic& topic) -> const std::string& { return topic.name; }, append_topic);
}

void remove_topic(Call& call) {
    RemoveTopic step{.name = call.last_segment(), .publisher = {}};
    if (call.caller().kind == Caller::Kind::client) step.publisher = call.caller().token;
    call.perform(std::move(step), call.now(), [](Call& done, Removal removal) {
        switch (removal) {
            case Removal::removed: return done.answer(204);
            case Removal::unknown: return done.answer_text(404, {});
            case Removal::forbidden: break;
        }
        done.answer_text(403, "only the publisher of a topic, or root, may delete it");
    });
}

}  // namespace routemaster::api
