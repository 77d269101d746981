#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/codec/event_fields.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/event.hpp"
#include "routemaster/names.hpp"
#include "routemaster/publisher.hpp"
#include "routemaster/topic.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

// --- Publishing ----------------------------------------------------------------------------------

/// Parses the event to publish. Only its topic name is validated.
Result<Event> event_of(const Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return payload.error();
    auto topic = exchange.last_segment();
    const auto rule = exchange.options().event_rules.topics;
    if (!is_topic_name(topic, rule)) {
        return headed("bad topic", bad("topic", "must be " + std::string{to_string(rule)}));
    }
    auto event = detail::read_event(std::move(topic), *payload);
    if (!event) return headed("bad event", event.error());
    return event;
}

/// Responds with the error of a publication. A client without a valid token must not learn errors
/// of the event or of the store, so the token is validated before such an error is sent.
void refuse_event(Exchange& exchange, const Error& error) {
    const auto& code = error.code();
    if (code == Errc::unauthenticated) return turn_away(exchange, Access::client);
    if (code == Errc::forbidden) return exchange.answer_text(403, "topic claimed");
    if (code == Errc::limit_exceeded) {
        return exchange.answer_text(403, "too many topics: at most " +
                                             std::to_string(exchange.options().topics_max) +
                                             " may belong to a client");
    }
    if (code != Errc::invalid && code != Errc::unavailable) return exchange.refuse(error);
    check_token(exchange, Access::client, [error](Exchange& known) { known.refuse(error); });
}

// --- Topics -------------------------------------------------------------------------------------

void append_topic(std::string& json, const Topic& topic, const Caller& caller) {
    json.append(R"({"name":)");
    append_json_text(json, topic.name);
    json.append(R"(,"publisher":)");
    if (!topic.publisher) {
        json.append("null");
    } else {
        const std::string_view token = *topic.publisher;
        append_json_text(json, caller.may_see_all(token) ? token : shown_token(token));
    }
    json.append(R"(,"events":)").append(std::to_string(topic.events)).append("}");
}

}  // namespace

void publish_event(Exchange& exchange) {
    const auto event = event_of(exchange);
    if (!event) return refuse_event(exchange, event.error());
    const auto publisher = exchange.bus().publisher(
        exchange.caller().token,
        {.topics_max = exchange.options().topics_max, .authenticate = true});
    publisher.publish(*event, [self = exchange.shared_from_this()](const Result<void>& published) {
        if (published) return self->answer(200);
        const auto& error = published.error();
        refuse_event(*self, error.code() == Errc::invalid ? headed("bad event", error) : error);
    });
}

void list_topics(Exchange& exchange) {
    list_page<Topic>(
        exchange, Keys::open,
        [](Exchange& asking, Page page, auto done) {
            asking.bus().topics(std::move(page), std::move(done));
        },
        [](const Topic& topic) -> const std::string& { return topic.name; }, append_topic);
}

void remove_topic(Exchange& exchange) {
    auto done = [self = exchange.shared_from_this()](const Result<Removal>& removal) {
        if (!removal && removal.error().code() == Errc::forbidden) {
            return self->answer_text(403, "only the publisher of a topic, or root, may delete it");
        }
        if (!removal) return self->refuse(removal.error());
        *removal == Removal::removed ? self->answer(204) : self->answer_text(404, {});
    };
    if (exchange.caller().kind == Caller::Kind::root) {
        return exchange.bus().remove_topic(exchange.last_segment(), std::move(done));
    }
    exchange.bus()
        .publisher(exchange.caller().token)
        .remove_topic(exchange.last_segment(), std::move(done));
}

}  // namespace routemaster::api
