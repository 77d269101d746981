#include <string>
#include <string_view>
#include <utility>

#include "handlers.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "secrets.hpp"
#include "subscription_payload.hpp"

namespace routemaster::api {
namespace {

void append_topics(std::string& json, const SubscriberStatus& subscriber) {
    char separator = '[';
    for (const auto& topic : subscriber.topics) {
        json.push_back(std::exchange(separator, ','));
        append_json_text(json, topic);
    }
    json.append(subscriber.topics.empty() ? "[]" : "]");
}

/// `sent` and `oldest` are always null, as in the original: it would take a walk through all
/// batches to know them.
void append_subscriber(std::string& json, const SubscriberStatus& subscriber,
                       const Caller& caller) {
    const auto& [token, callback, uuid, timeout, max_events, max_in_flight, attempts_max, age_max,
                 dead_max] = subscriber.subscription;
    const bool all = may_see_all(caller, token);
    json.append(R"({"subscriber":)");
    append_json_text(json, all ? std::string_view{token} : shown_token(token));
    json.append(R"(,"uuid":)");
    append_json_text(json, all ? std::string_view{uuid} : withheld);
    json.append(R"(,"callback":)");
    // The original may have written a subscriber without one.
    if (callback.empty()) {
        json.append("null");
    } else {
        append_json_text(json, all ? callback : shown_callback(callback));
    }
    json.append(R"(,"max_events":)").append(std::to_string(max_events));
    json.append(R"(,"timeout":)").append(std::to_string(timeout.count()));
    json.append(R"(,"topics":)");
    append_topics(json, subscriber);
    json.append(R"(,"events":{"sent":null,"queued":)");
    json.append(std::to_string(subscriber.events_queued));
    json.append(R"(,"oldest":null},"max_in_flight":)").append(std::to_string(max_in_flight));
    json.append(R"(,"attempts_max":)").append(std::to_string(attempts_max));
    json.append(R"(,"age_max":)").append(std::to_string(age_max.count()));
    json.append(R"(,"dead_max":)").append(std::to_string(dead_max));
    json.append(R"(,"dead":)").append(std::to_string(subscriber.batches_dead));
    json.append("}");
}

}  // namespace

void subscribe(Call& call) {
    const auto payload = json_object(call.request().body);
    if (!payload) return call.refuse(payload.error());
    auto step = subscription_of(call.caller().token, *payload, call.options());
    if (!step) return call.refuse(step.error());
    call.perform(std::move(*step), call.now(), [](Call& done, Done) { done.answer(204); });
}

void list_subscribers(Call& call) {
    tell_page<ListSubscribers>(
        call,
        [](const SubscriberStatus& subscriber) -> const std::string& {
            return subscriber.subscription.token;
        },
        append_subscriber);
}

void remove_subscriber(Call& call) {
    call.perform(RemoveSubscriber{call.caller().token}, call.now(),
                 [](Call& done, Removal removal) {
                     removal == Removal::removed ? done.answer(204)
                                                 : done.answer_text(404, "subscriber not found");
                 });
}

void unsubscribe(Call& call) {
    Unsubscribe step{.token = call.caller().token, .topic = call.last_segment()};
    call.perform(std::move(step), call.now(), [](Call& done, Unsubscription outcome) {
        switch (outcome) {
            case Unsubscription::unsubscribed: return done.answer(204);
            case Unsubscription::unknown_subscriber:
                return done.answer_text(404, "subscriber not found");
            case Unsubscription::unknown_topic: return done.answer_text(404, "topic not found");
            case Unsubscription::not_subscribed: break;
        }
        done.answer_text(404, "not subscribed");
    });
}

}  // namespace routemaster::api
