#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callback_url.hpp"
#include "listing.hpp"
#include "payload.hpp"
#include "routemaster/codec/json_text.hpp"
#include "routemaster/names.hpp"
#include "routemaster/subscription.hpp"
#include "routes.hpp"

namespace routemaster::api {
namespace {

// --- The subscription of a request ---------------------------------------------------------------

/// A parsed subscription. Topics are sorted, without duplicates.
struct SubscriptionRequest {
    std::vector<std::string> topics{};
    SubscribeOptions options{};
};

constexpr std::array<std::string_view, 9> subscription_fields{
    "topics",        "callback",     "uuid",    "max",     "timeout",
    "max_in_flight", "attempts_max", "age_max", "dead_max"};

Result<std::vector<std::string>> topics_of(const Value& payload, const HttpApiOptions& options) {
    const auto* field = given(payload, "topics");
    const auto* names = field == nullptr ? nullptr : field->get_if<Value::Array>();
    if (names == nullptr) return Error{Errc::invalid, "need an array of topics"};
    if (names->size() > options.topics_max) {
        return bad("topics", "must be at most " + std::to_string(options.topics_max) + " names");
    }
    const auto rule = options.event_rules.topics;
    std::vector<std::string> topics;
    topics.reserve(names->size());
    for (const auto& value : *names) {
        const auto* name = value.get_if<std::string>();
        if (name == nullptr || !is_topic_name(*name, rule)) {
            const auto place = "topics[" + std::to_string(topics.size()) + "]";
            return headed("bad topic",
                          bad(place, "must be a string of " + std::string{to_string(rule)}));
        }
        topics.push_back(*name);
    }
    std::sort(topics.begin(), topics.end());
    topics.erase(std::unique(topics.begin(), topics.end()), topics.end());
    return topics;
}

Result<std::string> callback_of(const Value& payload, bool allow_http) {
    const auto* field = given(payload, "callback");
    if (field == nullptr) return bad("callback", "URL is missing");
    const auto* url = field->get_if<std::string>();
    if (url == nullptr) return bad("callback", "requires a string");
    if (auto checked = check_callback(*url, allow_http); !checked) return checked.error();
    return *url;
}

Result<std::string> uuid_of(const Value& payload) {
    const auto* field = given(payload, "uuid");
    if (field == nullptr) return std::string{};
    const auto* uuid = field->get_if<std::string>();
    if (uuid == nullptr) return bad("uuid", "requires a string");
    if (auto checked = check({.callback = {}, .uuid = *uuid}); !checked) return checked.error();
    return *uuid;
}

/// Parses a number. `false` counts as absent, as in Ruby Routemaster.
Result<std::optional<std::int64_t>> setting_of(const Value& payload, std::string_view name,
                                               std::int64_t least, std::int64_t most) {
    if (asked_for(payload, name) == nullptr) return std::optional<std::int64_t>{};
    return integer_of(payload, name, least, most);
}

Result<std::optional<Duration>> span_of(const Value& payload, std::string_view name,
                                        Duration most) {
    const auto number = setting_of(payload, name, 0, most.count());
    if (!number) return number.error();
    return *number ? std::optional{Duration{**number}} : std::nullopt;
}

Result<std::optional<std::uint32_t>> count_of(const Value& payload, std::string_view name,
                                              std::uint32_t most, std::uint32_t least = 1) {
    const auto number = setting_of(payload, name, least, most);
    if (!number) return number.error();
    return *number ? std::optional{static_cast<std::uint32_t>(**number)} : std::nullopt;
}

template <class T>
bool take(Result<T> read, T& place, std::optional<Error>& problem) {
    if (!read) {
        problem = read.error();
        return false;
    }
    place = std::move(*read);
    return true;
}

/// Parses the subscription in a JSON object. `invalid`, naming the field, on error.
Result<SubscriptionRequest> subscription_request(const Value& payload,
                                                 const HttpApiOptions& limits) {
    if (auto checked = check_fields(payload, subscription_fields); !checked) {
        // Ruby Routemaster has this error text.
        return headed("bad data in payload", checked.error());
    }
    SubscriptionRequest wanted;
    auto& options = wanted.options;
    std::optional<Error> problem;
    const bool good =
        take(topics_of(payload, limits), wanted.topics, problem) &&
        take(callback_of(payload, limits.allow_http_callbacks), options.callback, problem) &&
        take(uuid_of(payload), options.uuid, problem) &&
        take(span_of(payload, "timeout", subscription_timeout_max), options.timeout, problem) &&
        take(count_of(payload, "max", std::numeric_limits<std::uint32_t>::max()),
             options.max_events, problem) &&
        take(count_of(payload, "max_in_flight", subscription_in_flight_max), options.max_in_flight,
             problem) &&
        take(count_of(payload, "attempts_max", subscription_attempts_max, 0), options.attempts_max,
             problem) &&
        take(span_of(payload, "age_max", subscription_age_max), options.age_max, problem) &&
        take(count_of(payload, "dead_max", subscription_dead_max), options.dead_max, problem);
    if (!good) return *problem;
    return wanted;
}

// --- Lists of subscribers ------------------------------------------------------------------------

void append_topics(std::string& json, const SubscriberStatus& subscriber) {
    char separator = '[';
    for (const auto& topic : subscriber.topics) {
        json.push_back(std::exchange(separator, ','));
        append_json_text(json, topic);
    }
    json.append(subscriber.topics.empty() ? "[]" : "]");
}

/// Prints a subscriber. `sent` and `oldest` are always null, as in Ruby Routemaster, because
/// computing them would require reading all batches.
void append_subscriber(std::string& json, const SubscriberStatus& subscriber,
                       const Caller& caller) {
    const auto& [token, callback, uuid, timeout, max_events, max_in_flight, attempts_max, age_max,
                 dead_max] = subscriber.subscription;
    const bool all = caller.may_see_all(token);
    json.append(R"({"subscriber":)");
    append_json_text(json, all ? std::string_view{token} : shown_token(token));
    json.append(R"(,"uuid":)");
    append_json_text(json, all ? std::string_view{uuid} : withheld);
    json.append(R"(,"callback":)");
    // Ruby Routemaster may have stored a subscriber without a callback.
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

Subscriber subscriber_of(const Exchange& exchange) {
    return exchange.bus().subscriber(exchange.caller().token);
}

}  // namespace

void subscribe(Exchange& exchange) {
    const auto payload = json_object(exchange.request().body);
    if (!payload) return exchange.refuse(payload.error());
    auto wanted = subscription_request(*payload, exchange.options());
    if (!wanted) return exchange.refuse(wanted.error());
    subscriber_of(exchange).subscribe(std::move(wanted->topics), std::move(wanted->options),
                                      exchange.then([](Exchange& done) { done.answer(204); }));
}

void list_subscribers(Exchange& exchange) {
    list_page<SubscriberStatus>(
        exchange, Keys::secret,
        [](Exchange& asking, Page page, auto done) {
            asking.bus().subscribers(std::move(page), std::move(done));
        },
        [](const SubscriberStatus& subscriber) -> const std::string& {
            return subscriber.subscription.token;
        },
        append_subscriber);
}

void remove_subscriber(Exchange& exchange) {
    subscriber_of(exchange).remove(exchange.then([](Exchange& done, Removal removal) {
        removal == Removal::removed ? done.answer(204)
                                    : done.answer_text(404, "subscriber not found");
    }));
}

void unsubscribe(Exchange& exchange) {
    subscriber_of(exchange).unsubscribe(
        exchange.last_segment(), exchange.then([](Exchange& done, Unsubscription outcome) {
            switch (outcome) {
                case Unsubscription::unsubscribed: return done.answer(204);
                case Unsubscription::unknown_subscriber:
                    return done.answer_text(404, "subscriber not found");
                case Unsubscription::unknown_topic: return done.answer_text(404, "topic not found");
                case Unsubscription::not_subscribed: break;
            }
            done.answer_text(404, "not subscribed");
        }));
}

}  // namespace routemaster::api
